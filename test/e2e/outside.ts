import type { BrowserContext, Route } from 'playwright-core'
import { ADDRESS_HEADER } from '../outside/address'

/** The server of the hosts outside, which the Worker asks too. */
const OUTSIDE = process.env.OUTSIDE_URL ?? ''

/** Sets what a host does from now on: see test/outside/. */
export async function setOutside(host: string, settings: object): Promise<void> {
  const headers = { [ADDRESS_HEADER]: `https://control.plain.dev/${host}` }
  const { ok } = await fetch(OUTSIDE, { method: 'PUT', headers, body: JSON.stringify(settings) })
  if (!ok) throw new Error(`${host} could not be set`)
}

/** Answers requests until their page closes: what it asked for last, such as an icon, may not have its answer by then. */
const untilClosed = (answer: (route: Route) => Promise<void>) => (route: Route) =>
  answer(route).catch((error: Error) => {
    if (!/has been closed|context disposed/.test(error.message)) throw error
  })

/**
 * Leads the requests of a browser for these hosts to the server of the hosts outside. Redirects to and from there become pages
 * that go on at once, because Playwright does not intercept where a redirect leads.
 */
export async function reachOutside(context: BrowserContext): Promise<void> {
  await context.route(/^https:\/\/[^/]+\.(certified|faulty|mock)\.dev\//, untilClosed(toOutside))
  await context.route(/\/(sso\/login\/|auth\/sso\/start)/, untilClosed(toProvider))
}

async function toOutside(route: Route): Promise<void> {
  const request = route.request()
  const headers = { ...(await request.allHeaders()), [ADDRESS_HEADER]: request.url() }
  // The server is another host, and takes no HTTP/2.
  const sent = Object.fromEntries(Object.entries(headers).filter(([name]) => !/^(:|host$|connection$)/.test(name)))
  const body = request.postData()
  const init = { method: request.method(), headers: sent, redirect: 'manual' as const, ...(body && { body }) }
  const answer = await fetch(OUTSIDE, init)
  const cookies = answer.headers.getSetCookie()
  await goOn(route, { status: answer.status, to: answer.headers.get('location'), cookies, body: await answer.text() })
}

async function toProvider(route: Route): Promise<void> {
  const answer = await route.fetch({ maxRedirects: 0 })
  const given = answer.headersArray()
  const cookies = given.flatMap(({ name, value }) => (name.toLowerCase() === 'set-cookie' ? [value] : []))
  const to = answer.headers().location ?? null
  if (to === null) return route.fulfill({ response: answer })
  return goOn(route, { status: answer.status(), to, cookies, body: '' })
}

type Reply = { status: number; to: string | null; cookies: string[]; body: string }

function goOn(route: Route, { status, to, cookies, body }: Reply): Promise<void> {
  const headers = { 'content-type': 'text/html', ...(cookies.length > 0 && { 'set-cookie': cookies.join('\n') }) }
  if (to === null) return route.fulfill({ status, headers, body })
  const next = new URL(to, route.request().url()).href.replaceAll('&', '&amp;').replaceAll('"', '&quot;')
  return route.fulfill({ headers, body: `<meta http-equiv="refresh" content="0;url=${next}">` })
}
