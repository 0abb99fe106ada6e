import { html } from 'hono/html'
import type { Child } from 'hono/jsx'
import type { StatusCode } from 'hono/utils/http-status'
import { SECOND } from '../../lib/time'
import { SESSION_IDLE } from '../../sessions/limits'
import { PASSKEYS, REFERENCE_SCRIPT, REFERENCE_STYLE, SCRIPT, STYLE } from '../asset-names'
import { themeIn } from '../browser'
import { asLeft } from '../lead'
import type { Visit } from '../page'
import { projectPaths } from '../paths'
import type { SignedIn } from '../session'
import { Frame } from './frame/frame'
import { projectsAround } from './frame/projects'
import type { SectionName } from './frame/sections'
import { faviconOf, GraceNotices, lastStanding } from './frame/status'
import { Notice, type NoticeName } from './notice'
import { InChosenTimes } from './parts'

const HTMX = JSON.stringify({
  allowEval: false,
  allowScriptTags: false,
  includeIndicatorStyles: false,
  selfRequestsOnly: true,
  historyCacheSize: 0,
})

type View = {
  title: string
  section?: SectionName
  status?: StatusCode
  /** The parent page: its label and path. */
  above?: readonly [string, string]
  /** What is on the line of the parent page. */
  beside?: Child
  /** Whether the page has the full width although nobody is signed in. */
  wide?: boolean
  /** Whether to load the API reference viewer. */
  viewer?: boolean
  /** Whether to load the script of passkeys. */
  passkeys?: boolean
}

/** Responds with a full page, in the frame if a user is signed in. */
export async function show(c: Visit, view: View, content: Child) {
  const user = c.get('actor') as SignedIn | undefined
  const around = user ? await projectsAround(c, user) : null
  // A page that nobody has touched until then leads to the sign-in page, and is no longer on the screen.
  if (user) c.header('Refresh', String(SESSION_IDLE / SECOND))
  const theme = themeIn(c)
  const notice = c.req.query('done') as NoticeName | undefined
  const main = (
    <main id="main" tabindex={-1} class={user || view.wide ? '' : 'narrow'}>
      {view.above && (
        <nav aria-label="Breadcrumb" class="above">
          <a href={asLeft(c, view.above[1])}>← {view.above[0]}</a>
        </nav>
      )}
      {view.beside}
      {around?.current && <GraceNotices project={around.current.id} domains={around.inGrace} />}
      <Notice name={notice} paths={user?.project_id ? projectPaths(user.project_id) : null} />
      {content}
    </main>
  )
  c.status(view.status ?? 200)
  return c.html(
    html`<!doctype html>${(
      <html lang="en" data-now={c.get('rt').now} data-theme={theme}>
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <meta name="color-scheme" content={theme === 'system' ? 'light dark' : theme} />
          <meta name="htmx-config" content={HTMX} />
          <title>{[view.title, around?.current?.name, 'Platform API'].filter(Boolean).join(' · ')}</title>
          <link rel="icon" href={faviconOf(user ? lastStanding(c, user) : null)} type="image/svg+xml" />
          {view.viewer && <link rel="stylesheet" href={REFERENCE_STYLE} />}
          <link rel="stylesheet" href={STYLE} />
          <script src={SCRIPT} defer />
          {view.passkeys && <script src={PASSKEYS} defer />}
          {view.viewer && <script src={REFERENCE_SCRIPT} defer />}
        </head>
        <body>
          <a class="skip" href="#main">
            Skip to content
          </a>
          {user && around ? (
            <Frame c={c} user={user} around={around} section={view.section}>
              <InChosenTimes c={c}>{main}</InChosenTimes>
            </Frame>
          ) : (
            main
          )}
          <dialog id="dialog" aria-label="Confirmation" />
          <p id="stale" class="stale" role="status" hidden />
          <p id="said" class="unseen" role="status" />
        </body>
      </html>
    )}`,
  )
}
