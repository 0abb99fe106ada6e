import type { Context } from 'hono'
import { html } from 'hono/html'
import type { Child } from 'hono/jsx'
import type { StatusCode } from 'hono/utils/http-status'
import type { HttpEnv } from '../../http/context'
import { ICON, REFERENCE_SCRIPT, REFERENCE_STYLE, SCRIPT, STYLE } from '../asset-names'
import type { User } from '../session'
import { Header, projectsFor } from './header'
import { Notice, type NoticeName } from './notice'
import type { Section } from './tabs'

const HTMX = JSON.stringify({
  allowEval: false,
  allowScriptTags: false,
  includeIndicatorStyles: false,
  selfRequestsOnly: true,
  historyCacheSize: 0,
})

type View = {
  title: string
  section?: Section
  status?: StatusCode
  /** The parent page: its label and path. */
  above?: [string, string]
  /** Whether to load the API reference viewer. */
  viewer?: boolean
}

/** Responds with a full page. */
export async function show(c: Context<HttpEnv>, view: View, content: Child) {
  const user = c.get('actor') as User | undefined
  const projects = user ? await projectsFor(c, user) : []
  const notice = c.req.query('done') as NoticeName | undefined
  c.status(view.status ?? 200)
  return c.html(
    html`<!doctype html>${(
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <meta name="color-scheme" content="light dark" />
          <meta name="htmx-config" content={HTMX} />
          <title>{view.title} · Platform API</title>
          <link rel="icon" href={ICON} type="image/svg+xml" />
          {view.viewer && <link rel="stylesheet" href={REFERENCE_STYLE} />}
          <link rel="stylesheet" href={STYLE} />
          <script src={SCRIPT} defer />
          {view.viewer && <script src={REFERENCE_SCRIPT} defer />}
        </head>
        <body>
          <a class="skip" href="#main">
            Skip to content
          </a>
          {user && <Header c={c} user={user} projects={projects} section={view.section} />}
          <main id="main" tabindex={-1} class={user ? '' : 'narrow'}>
            {view.above && (
              <nav aria-label="Breadcrumb" class="above">
                <a href={view.above[1]}>← {view.above[0]}</a>
              </nav>
            )}
            <Notice name={notice} />
            {content}
          </main>
          <dialog id="dialog" aria-label="Confirmation" />
          <p id="said" class="unseen" role="status" />
        </body>
      </html>
    )}`,
  )
}
