import type { Context } from 'hono'
import { HTTPException } from 'hono/http-exception'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { HttpEnv } from '../http/context'
import { asFault, describe, ERRORS } from '../http/errors'
import { forgetSession } from './session'
import { show } from './ui/layout'

const NOT_SIGNED_IN = ['missing_credentials', 'malformed_credentials', 'unknown_session', 'session_expired']

/** A failure as a page; a visitor who is not signed in is sent to where that is done, and back afterwards. */
export function errorPage(c: Context<HttpEnv>, error: unknown): Response | Promise<Response> {
  if (error instanceof HTTPException) return say(c, error.status, 'This form was refused', error.message)
  const fault = asFault(error)
  if (NOT_SIGNED_IN.includes(fault.fault)) return toSignIn(c)
  if (fault.fault === 'not_a_member' || fault.fault === 'not_found') return missingPage(c)
  const { status, title } = ERRORS[fault.fault]
  const log = c.get('log')
  log.code = fault.fault
  if (status >= 500) log.error = describe(fault.extra.cause ?? error)
  return say(c, status, title, fault.detail)
}

/** What is not there, or not for this visitor to know of. */
export function missingPage(c: Context<HttpEnv>): Promise<Response> {
  return say(
    c,
    404,
    'There is no such page',
    'It may have been removed, or it belongs to a project you are no member of.',
  )
}

async function say(c: Context<HttpEnv>, status: ContentfulStatusCode, title: string, detail: string) {
  if (status === 429) c.header('Retry-After', '10')
  if (status === 503) c.header('Retry-After', '5')
  // Without a database there is nobody to greet, and no projects to offer.
  if (status >= 500) c.set('actor', undefined as never)
  return show(
    c,
    { title, status },
    <>
      <h1>{title}</h1>
      <p>{detail}</p>
      <p class="quiet">
        {status} · request {c.get('requestId')}
      </p>
      <p>
        <a class="button" href="/console">
          Go to your projects
        </a>
      </p>
    </>,
  )
}

function toSignIn(c: Context<HttpEnv>): Response {
  // A part of a page that asks to be filled in leads back to the page.
  const { pathname, search } = new URL(c.req.header('HX-Current-URL') ?? '', c.req.url)
  const back = c.req.method === 'GET' ? pathname + search : '/console'
  const target = back === '/console' ? '/console/sign-in' : `/console/sign-in?next=${encodeURIComponent(back)}`
  forgetSession(c)
  if (!c.req.header('HX-Request')) return c.redirect(target, 303)
  c.header('HX-Redirect', target)
  return c.body(null, 401)
}
