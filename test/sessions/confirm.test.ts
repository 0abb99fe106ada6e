import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import { CREDENTIALS } from '../../src/app'
import { type Env, openRuntime } from '../../src/env'
import type { HttpEnv } from '../../src/http/context'
import { problem } from '../../src/http/errors'
import { openApi } from '../../src/http/openapi'
import { route } from '../../src/http/route'
import { MINUTE, SECOND } from '../../src/lib/time'
import { setClock, stopClock } from '../clock'
import { bindingsWith, call, countingD1, freshKey, type RequestOptions, unconfirm } from '../harness'
import { current, freshEmail, redeem, sent, signIn, usersOf, wrong } from './signing-in'

type Typed = { challenge: string; code: string }
const confirm = (token: string, { challenge, code }: Typed, options: RequestOptions = {}) =>
  call('/auth/session/confirm', { method: 'POST', token, json: { challenge, code }, ...options })
const told = ({ status, body }: { status: number; body: { code?: unknown } | null }) => [status, body?.code ?? null]
const untilOf = async (token: string) => Date.parse((await current(token)).body.session.confirmed_until)

/** A session that was confirmed long ago, and a fresh code for its address. */
async function stale() {
  const email = freshEmail()
  const { token, user } = await signIn(email)
  await unconfirm(user.id)
  const { challenge, code } = await sent(email)
  return { email, token, user, challenge, code }
}

describe('a session', () => {
  it('is confirmed for ten minutes from its start, and again by a code', async () => {
    const start = stopClock()
    const email = freshEmail()
    const { token } = await signIn(email)
    expect(await untilOf(token)).toBe(start + 10 * MINUTE)
    setClock(start + 20 * MINUTE)
    const { challenge, code } = await sent(email)
    const answer = await confirm(token, { challenge, code: code.toLowerCase() })
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual((await current(token)).body)
    expect(Date.parse(answer.body.session.confirmed_until)).toBe(start + 30 * MINUTE)
  })

  it('is not confirmed by a code that was used, by the one that opened it, or by one that ended', async () => {
    const start = stopClock()
    const email = freshEmail()
    const opened = await sent(email)
    const { token } = (await redeem(opened.challenge, opened.code)).body
    const [older, used] = [await sent(email), await sent(email)]
    setClock(start + SECOND)
    expect((await confirm(token, used)).status).toBe(200)
    for (const { challenge, code } of [opened, used, older]) {
      expect(told(await confirm(token, { challenge, code }))).toEqual([401, 'invalid_code'])
      expect(told(await redeem(challenge, code))).toEqual([401, 'invalid_code'])
    }
    expect(await untilOf(token)).toBe(start + SECOND + 10 * MINUTE)
    const late = await sent(email)
    setClock(start + SECOND + 10 * MINUTE)
    expect(told(await confirm(token, late))).toEqual([401, 'invalid_code'])
  })

  it('is not confirmed by the code of another address, which stays good for its own', async () => {
    const { token } = await stale()
    const before = await untilOf(token)
    const theirs = await sent()
    expect(told(await confirm(token, theirs))).toEqual([401, 'invalid_code'])
    expect(await untilOf(token)).toBe(before)
    expect((await redeem(theirs.challenge, theirs.code)).status).toBe(201)
  })

  it.each(['to confirm', 'to sign in'])('ends no code of another address with one that is used %s', async (how) => {
    const { token, email } = await stale()
    const theirs = await sent()
    const { challenge, code } = await sent(email)
    const used = how === 'to confirm' ? await confirm(token, { challenge, code }) : await redeem(challenge, code)
    expect(used.status).toBeLessThan(300)
    expect((await redeem(theirs.challenge, theirs.code)).status).toBe(201)
  })

  it('has five tries with a code, whether to confirm or to sign in', async () => {
    const { token, challenge, code } = await stale()
    for (let i = 0; i < 3; i++) expect((await confirm(token, { challenge, code: wrong(code, i) })).status).toBe(401)
    for (let i = 3; i < 5; i++) expect((await redeem(challenge, wrong(code, i))).status).toBe(401)
    expect(told(await confirm(token, { challenge, code }))).toEqual([401, 'invalid_code'])
  })

  it('is confirmed once by a code that is sent many times at once, and opens no other', async () => {
    const { token, user, email, challenge, code } = await stale()
    const answers = await Promise.all([
      ...Array.from({ length: 4 }, () => confirm(token, { challenge, code })),
      redeem(challenge, code),
    ])
    expect(answers.map(({ status }) => status < 300).filter(Boolean)).toHaveLength(1)
    expect(await usersOf(email)).toEqual([{ id: user.id }])
  })

  it('takes one more round trip to confirm', async () => {
    const { token, challenge, code } = await stale()
    const { DB, count } = countingD1()
    expect((await confirm(token, { challenge, code }, { bindings: { DB } })).status).toBe(200)
    expect(count.trips).toBe(2)
  })
})

describe('a route that requires a confirmed session', () => {
  const app = new Hono<HttpEnv>()
    .use(async (c, next) => {
      c.set('credentialKinds', CREDENTIALS)
      c.set('rt', openRuntime(c.env as Env, { waitUntil: () => {} }))
      await next()
    })
    .delete(
      '/thing',
      route({
        id: 'deleteThing',
        summary: 'Delete a thing',
        description: 'For this test.',
        tag: 'Service',
        policy: { actors: ['session', 'api_key'], scope: 'projects:write', project: true, confirmed: true },
        responses: { 204: { description: 'Deleted.' } },
      }),
      (c) => c.body(null, 204),
    )
  app.onError((error, c) => problem(c, error))
  const remove = async (token: string, project: string, bindings: Partial<Env> = {}) => {
    const headers = { Authorization: `Bearer ${token}`, 'X-Project-Id': project }
    const answer = await app.request('/thing', { method: 'DELETE', headers }, bindingsWith(bindings))
    return answer.status === 204 ? [204] : [answer.status, ((await answer.json()) as { code: string }).code]
  }

  it('refuses a session that is not, in no more round trips; an API key needs only the scope', async () => {
    const { project, owner, secret } = await freshKey()
    expect(await remove(owner.token, project)).toEqual([204])
    await unconfirm(owner.user)
    const { DB, count } = countingD1()
    expect(await remove(owner.token, project, { DB })).toEqual([403, 'confirmation_required'])
    expect(count.trips).toBe(1)
    expect(await remove(secret, project)).toEqual([204])
  })

  it('documents it', () => {
    expect(JSON.stringify(openApi(app, CREDENTIALS, '/').paths)).toContain('`confirmation_required`')
  })
})
