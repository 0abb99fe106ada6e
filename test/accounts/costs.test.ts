import { beforeAll, expect, it } from 'vitest'
import { stopClock } from '../clock'
import { call, countingD1, freshProject, type RequestOptions } from '../harness'
import { redeem, sent, signIn } from '../sessions/signing-in'

// Once a minute, a key's use is written, which would be a trip more.
beforeAll(() => void stopClock())

/** Round trips and rows written by a call, with the trip that reads the credentials. */
async function costOf(work: (bindings: NonNullable<RequestOptions['bindings']>) => Promise<unknown>) {
  const { DB, count } = countingD1()
  await work({ DB })
  return [count.trips, count.rows_written]
}

const from = (agent: string) => ({ 'User-Agent': agent })

it('costs as docs/concepts/accounts.md says', async () => {
  const { email } = await signIn(undefined, { headers: from('known/1') })
  const signInFrom = async (agent: string, mistyped = false) => {
    const { challenge, code } = await sent(email)
    return costOf((bindings) => redeem(challenge, mistyped ? 'AAAAAAAA' : code, { headers: from(agent), bindings }))
  }
  const { token } = await signIn(email, { headers: from('known/1') })
  const { challenge, code } = await sent(email)
  const json = { challenge, code }
  const costs = {
    confirm: await costOf((bindings) => call('/auth/session/confirm', { method: 'POST', token, json, bindings })),
    known: await signInFrom('known/1'),
    unknown: await signInFrom('unknown/1'),
    wrong: await signInFrom('known/1', true),
    events: await costOf((bindings) => call('/auth/events', { token, bindings })),
    notices: await costOf((bindings) =>
      call('/auth/user', { method: 'PATCH', token, json: { notices: false }, bindings }),
    ),
    signOut: await costOf((bindings) => call('/auth/sessions/current', { method: 'DELETE', token, bindings })),
  }
  expect(costs).toEqual({
    confirm: [2, 4],
    known: [1, 6],
    unknown: [1, 9],
    wrong: [1, 3],
    events: [2, 0],
    notices: [2, 4],
    signOut: [2, 3],
  })
})

it('a new key asks the directory once more, after the answer', async () => {
  const { project, owner } = await freshProject()
  const options = { method: 'POST', token: owner.token, project, json: { name: 'x' } }
  expect((await costOf((bindings) => call('/platform/v1/api-keys', { ...options, bindings })))[0]).toBe(3)
})
