import type { Context } from 'hono'
import { html } from 'hono/html'
import type { Child } from 'hono/jsx'
import type { StatusCode } from 'hono/utils/http-status'
import { run } from '../../db/client'
import type { HttpEnv } from '../../http/context'
import { findMemberProject, listMemberProjects } from '../../projects/store'
import { ICON, REFERENCE_SCRIPT, REFERENCE_STYLE, SCRIPT, STYLE } from '../asset-names'
import { projectPaths } from '../paths'
import type { User } from '../session'
import { Notice, type NoticeName, Post } from './parts'

const HTMX = JSON.stringify({
  allowEval: false,
  allowScriptTags: false,
  includeIndicatorStyles: false,
  selfRequestsOnly: true,
  historyCacheSize: 0,
})
const SWITCHER = 8

type Section = 'keys' | 'events' | 'billing' | 'connections' | 'health' | 'reference'
type View = {
  title: string
  section?: Section
  status?: StatusCode
  /** The way back: label and path of the page above. */
  above?: [string, string]
  /** Loads the viewer of the API reference. */
  viewer?: boolean
}
type Known = { id: string; name: string }

/** Answers with a whole page. */
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

/** The project of the page first, then the newest others, for the switcher. */
async function projectsFor(c: Context<HttpEnv>, user: User): Promise<Known[]> {
  const { db } = c.get('rt')
  const all: Known[] = await run(db, listMemberProjects(db, user.user_id, null, SWITCHER + 1))
  const { project_id } = user
  if (project_id === null) return all
  const known = all.find(({ id }) => id === project_id)
  const current = known ?? (await run(db, findMemberProject(db, project_id, user.user_id)))[0]
  return [...(current ? [current] : []), ...all.filter(({ id }) => id !== project_id)]
}

function Header(props: { c: Context<HttpEnv>; user: User; projects: Known[]; section?: Section | undefined }) {
  const { c, user, projects, section } = props
  const current = user.project_id === null ? null : projects[0]
  return (
    <header class="top">
      <div class="bar">
        <a class="brand" href="/console">
          Platform API
        </a>
        <details class="menu">
          <summary>{current?.name ?? 'Projects'}</summary>
          <ul>
            {projects.slice(0, SWITCHER).map(({ id, name }) => (
              <li>
                <a href={projectPaths(id).start} aria-current={id === current?.id ? 'true' : undefined}>
                  {name}
                </a>
              </li>
            ))}
            <li class="last">
              <a href="/console">All projects</a>
            </li>
            <li>
              <a href="/console/projects/new">New project</a>
            </li>
          </ul>
        </details>
        <details class="menu account">
          <summary aria-label={`Account: ${user.email}`}>{user.email}</summary>
          <ul>
            <li>
              <a href="/console/sessions">Sessions</a>
            </li>
            <li class="last">
              <Post c={c} to="/console/sign-out">
                <button type="submit" class="plain">
                  Sign out
                </button>
              </Post>
            </li>
          </ul>
        </details>
      </div>
      <Tabs project={current?.id} section={section} />
    </header>
  )
}

function Tabs({ project, section }: { project?: string | undefined; section?: Section | undefined }) {
  const paths = project === undefined ? null : projectPaths(project)
  const tabs: [Section, string, string][] = [
    ...(paths
      ? ([
          ['keys', 'API keys', paths.keys],
          ['events', 'Webhook events', paths.events],
          ['billing', 'Billing', `${paths.billing}/subscriptions`],
          ['connections', 'Connections', paths.connections],
          ['health', 'Health', paths.health],
        ] as [Section, string, string][])
      : []),
    ['reference', 'API reference', paths ? `${paths.start}/reference` : '/console/reference'],
  ]
  return (
    <nav class="tabs" aria-label="Sections">
      {tabs.map(([name, label, path]) => (
        <a href={path} aria-current={name === section ? 'page' : undefined}>
          {label}
        </a>
      ))}
    </nav>
  )
}
