import { expect, it } from 'vitest'
import { KEPT_TESTS } from '../../src/sso/limits'
import { visit } from '../console/visit'
import {
  type Answer,
  browse,
  call,
  captureConsole,
  dataset,
  issuedBy,
  mailbox,
  ORIGIN,
  type RequestOptions,
  recordingQueue,
  seenBy,
  setHost,
  storedText,
  tamperedD1,
} from '../harness'
import type { Faults } from '../outside/faulty'
import { customersWorld } from './customers'
import { CONNECTIONS, cookiesOf, start, team } from './team/team'

/*
 * What proves a sign-in is kept nowhere, whoever signs in and however it ends, also where the provider repeats it in an error:
 * the client secret, the code, the tokens, the PKCE verifier, the nonce, the state, the cookie of the browser, our own code and
 * the token of the session.
 */

const D1_DOWN = {
  DB: tamperedD1(({ sql, run }) => (/^delete/i.test(sql) ? run() : Promise.reject(new Error('D1_ERROR: no')))),
}
const ADA = { claims: { email: 'ada@other.dev' }, userinfo: { email: null } }
const HOW: [string, Faults, RequestOptions['bindings']?][] = [
  ['well', {}],
  ['with somebody who may not sign in', ADA],
  ['with another client at the provider', { pages: { '/token': { status: 401, body: '{"error":"invalid_client"}' } } }],
  ['refused by the provider', { echo: ['/authorize'] }],
  ['at the token endpoint', { echo: ['/token'] }],
  ['with a provider that is down', { pages: { '/token': { status: 503 } } }],
  ['with another nonce', { claims: { nonce: 'another', sid: 'sid' } }],
  ['with the azp of another client', { claims: { azp: 'another' } }],
  ['with another signature', { signed_by: 'another key' }],
  ['at UserInfo', { echo: ['/userinfo'] }],
  ['while D1 is down', {}, D1_DOWN],
]

type At = { url: string; cookie: string }
const cookieOf = ({ headers }: Answer) => `__Host-sso=${cookiesOf(headers)['__Host-sso']}`
const led = (answer: Answer): At => ({ url: answer.headers.get('Location') ?? '', cookie: cookieOf(answer) })

/** A kind of sign-in: how it begins and, with a code of ours, ends; what the project shows of it afterwards. */
type Kind = {
  host: string
  /** Whom the provider signs in if all goes well. */
  well?: Faults
  begin: () => Promise<At>
  end?: (code: string) => Promise<Answer>
  shown: () => Promise<Answer[]>
}
const KINDS: Record<string, () => Promise<Kind>> = {
  async team() {
    const of = await team()
    const caller = { project: of.project, token: of.owner.token }
    return {
      host: of.host,
      well: { claims: { email: `ada@${of.domain}` }, userinfo: { email: null } },
      begin: async () => led((await start(`connection=${of.connection}`)).answer),
      shown: () => reads(caller, of.connection),
    }
  },
  async customers() {
    const { project, owner, connection, authorize, token } = await customersWorld({ provider: 'faulty.dev' })
    return {
      host: new URL(connection.issuer).hostname,
      begin: async () => led(await call((await authorize()).body.url)),
      end: (code) => token(code),
      shown: () => reads({ project, token: owner.token }, connection.id),
    }
  },
  async 'a test run'() {
    const of = await team()
    const caller = { project: of.project, token: of.owner.token }
    const tests: string[] = []
    return {
      host: of.host,
      begin: async () => {
        const { body } = await call(`${CONNECTIONS}/${of.connection}/test`, { method: 'POST', ...caller })
        tests.push(body.test_id)
        return led(await call(`${body.url}?continue`))
      },
      shown: async () => [
        ...(await reads(caller, of.connection)),
        ...(await Promise.all(
          tests.slice(-KEPT_TESTS).map((id) => call(`${CONNECTIONS}/${of.connection}/tests/${id}`, caller)),
        )),
      ],
    }
  },
}

function reads(caller: { project: string; token: string }, connection: string): Promise<Answer[]> {
  const { project, token } = caller
  const paths = [
    'sso/connections',
    `sso/connections/${connection}`,
    'sso/identities',
    'audit-log',
    'members',
    'consumers',
  ]
  const settings = `/console/p/${project}/platform/settings`
  return Promise.all([
    ...paths.map((path) => call(`/platform/v1/${path}`, caller)),
    ...['sso', `sso/${connection}`, 'audit-log'].map((path) => visit(`${settings}/${path}`, token)),
  ])
}

it.each(Object.entries(KINDS))(
  'nothing that proves a sign-in is in logs, storage, mails, messages or answers: %s',
  async (_, make) => {
    const logged = captureConsole()
    const [{ EVENTS, sent }, { EMAIL, mails }, { METRICS, points }] = [recordingQueue(), mailbox(), dataset()]
    const { host, well = {}, begin, end, shown } = await make()
    const secrets = new Set(['s3cret', btoa('rp:s3cret')])
    const keep = (...found: (string | null | undefined)[]) => {
      for (const one of found) if (one) secrets.add(one)
    }
    const [ends, stored]: [string[], string[]] = [[], []]
    for (const [how, faults, broken] of HOW) {
      await setHost(host, how === 'well' ? well : faults)
      const at = await begin()
      if (how === 'well') stored.push(await storedText()) // with the login, which the callback takes
      const back = await browse(at.url, new URL(ORIGIN).hostname)
      const bindings = { EVENTS, EMAIL, METRICS, ...broken }
      const answer = await call(back.href, { headers: { Cookie: at.cookie }, bindings })
      if (how === 'well') stored.push(await storedText()) // with the code, which its exchange takes
      const asked = new URL(at.url).searchParams
      keep(at.cookie.split('=')[1], asked.get('state'), asked.get('nonce'), cookiesOf(answer.headers)['__Host-session'])
      for (const { headers, body } of await seenBy(host)) {
        const form = new URLSearchParams(body)
        keep(form.get('code'), form.get('code_verifier'), headers.authorization?.split(' ')[1])
      }
      keep(...(await issuedBy(host)))
      if (how === 'well') expect(answer.headers.get('Location') ?? '').not.toContain('refused')
      const location = new URL(answer.headers.get('Location') ?? ORIGIN, ORIGIN)
      const code = location.searchParams.get('code')
      ends.push(`${how}: ${answer.status} ${location.pathname}`)
      if (code && end) {
        keep(code)
        ends.push((await end(code)).text)
      } else ends.push(location.href)
      ends.push(answer.text)
    }
    const answers = await shown()
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    const kinds = [...secrets]
    expect(kinds.length).toBeGreaterThan(HOW.length * 6)
    const places = {
      logs: logged.join('\n'),
      storage: [...stored, await storedText()].join('\n'),
      mails: JSON.stringify(mails),
      messages: JSON.stringify([sent, points]),
      ends: ends.join('\n'),
      answers: answers.map(({ text }) => text).join('\n'),
    }
    expect(places.logs).toContain('"event":"request"')
    // The beginning of a secret that was cut is as telling. Texts of ours are encoded in pages.
    const beginnings = kinds.map((one) => one.slice(0, 24))
    for (const [place, text] of Object.entries(places))
      expect([place, beginnings.filter((one) => text.includes(one))]).toEqual([place, []])
  },
)
