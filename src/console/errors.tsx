import { HTTPException } from 'hono/http-exception'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { noteFull } from '../http/database-full'
import { asFault, describe, retryAfter } from '../http/errors'
import { Fault } from '../lib/fault'
import { ERRORS, type FaultName } from '../lib/faults'
import { startPath } from '../tenancy/reach'
import { earlierSessionPage, endedPage } from './again'
import { OfEarlierSession } from './csrf'
import { lead, needsConfirmation, needsPasskey, toConfirm, toSecondFactor } from './lead'
import { enterIfKnown, type Visit } from './page'
import { deletedPage, restorableOf } from './pages/projects/deleted'
import { forgetSession, hasEnded, isNotSignedIn } from './session'
import { plural } from './ui/format'
import { show } from './ui/layout'
import type { NoticeName } from './ui/notice'

/** Shows an error as a page. A visitor who must sign in, or confirm the session, returns afterwards. */
export function errorPage(c: Visit, error: unknown): Response | Promise<Response> {
  if (error instanceof Fault) c.get('log').code = error.fault
  if (error instanceof OfEarlierSession) return earlierSessionPage(c)
  if (error instanceof HTTPException) {
    c.get('log').code = 'form_rejected'
    return say(c, { status: error.status, title: 'The form was rejected', detail: error.message })
  }
  if (isNotSignedIn(error)) {
    const isForm = c.req.method === 'POST' && !c.req.header('HX-Request') && c.req.path !== '/console/sign-out'
    return isForm ? endedPage(c, error) : toSignIn(c, error)
  }
  if (needsConfirmation(error)) return toConfirm(c)
  if (needsPasskey(error)) return toSecondFactor(c)
  const fault = asFault(error)
  if (fault.fault === 'sso_required') return toSingleSignOn(c, fault.extra.connection ?? '')
  if (fault.fault === 'not_a_member' || fault.fault === 'not_found') return missingPage(c)
  if (fault.fault === 'database_full') noteFull(c.get('rt'))
  const { status, title } = ERRORS[fault.fault]
  const words = PAGE_WORDS[fault.fault]
  const log = c.get('log')
  log.code = fault.fault
  if (status >= 500) log.error = describe(fault.extra.cause ?? error)
  for (const [name, value] of Object.entries(fault.extra.headers ?? {})) c.header(name, value)
  const wait = fault.extra.headers?.['Retry-After'] ?? retryAfter(status)
  return say(c, { status, title: words?.title ?? title, detail: words?.detail ?? fault.detail, wait })
}

/** The page for a project that this session does not reach: a link, because the sign-in replaces the session. */
async function toSingleSignOn(c: Visit, connection: string) {
  await enterIfKnown(c, null)
  const { pathname, search } = new URL(c.req.url)
  const next = c.req.method === 'GET' ? pathname + search : '/console'
  return show(
    c,
    { title: 'Single sign-on is required', status: 403 },
    <>
      <h1>This project requires its own single sign-on</h1>
      <p>Sign in with the identity provider of the project to open it. This replaces your session in this browser.</p>
      <p>
        <a class="button primary" href={startPath(connection, next)}>
          Continue to single sign-on
        </a>
      </p>
      <p>
        <a href="/console">Go to your projects</a>
      </p>
    </>,
  )
}

/** Errors whose usual words speak of calls and credentials. */
const PAGE_WORDS: Partial<Record<FaultName, { title: string; detail: string }>> = {
  insufficient_role: {
    title: 'Your role does not allow this',
    detail: 'Ask an admin or an owner of this project to do it, or to change your role.',
  },
}

/** The page for a path that does not exist, or that the visitor may not know about. A path with a slash at its end leads to the one without, encoded as it was sent. */
export async function missingPage(c: Visit): Promise<Response> {
  const { pathname, search } = new URL(c.req.url)
  if (c.req.method === 'GET' && pathname.endsWith('/')) return c.redirect(pathname.replace(/\/+$/, '') + search, 301)
  const project = /^\/console\/p\/([^/]+)/.exec(c.req.path)?.[1] ?? null
  if (!c.get('actor')) await enterIfKnown(c, project)
  const deleted = project && c.get('actor') ? await restorableOf(c, project) : null
  if (deleted) return deletedPage(c, deleted)
  return say(c, {
    status: 404,
    title: 'Page not found',
    detail: 'The page may have been removed, or you may not be a member of its project.',
  })
}

/** `wait`: how long to wait before trying again (s); null if that does not help. */
type Said = { status: ContentfulStatusCode; title: string; detail: string; wait?: string | null }

async function say(c: Visit, { status, title, detail, wait = null }: Said) {
  if (wait !== null) c.header('Retry-After', wait)
  // The header needs the database, which may be what failed.
  if (status >= 500) c.set('actor', undefined as never)
  return show(
    c,
    { title, status },
    <>
      <h1>{title}</h1>
      <p>
        {detail}
        {wait !== null && ` You can try again in ${plural(Number(wait), 'second')}.`}
      </p>
      <p class="quiet">
        {status} · Request ID: {c.get('clientRequestId') ?? c.get('requestId')}
      </p>
      <p>
        <a class="button" href="/console">
          Go to your projects
        </a>
      </p>
    </>,
  )
}

function toSignIn(c: Visit, error: unknown): Response {
  // A partial update leads back to the page that it was for, if the header names one.
  const { pathname, search } = URL.parse(c.req.header('HX-Current-URL') ?? '', c.req.url) ?? new URL(c.req.url)
  const back = c.req.method === 'GET' ? pathname + search : '/console'
  const query = new URLSearchParams(back === '/console' ? {} : { next: back })
  if (hasEnded(error)) query.set('done', 'your_session_ended' satisfies NoticeName)
  forgetSession(c)
  return lead(c, query.size === 0 ? '/console/sign-in' : `/console/sign-in?${query}`)
}
