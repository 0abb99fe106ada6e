import { beforeEach, expect, it } from 'vitest'
import { DAY, HOUR, MINUTE } from '../../src/lib/time'
import { advance, setClock, stopClock } from '../clock'
import { DIRECTORY } from '../harness'
import { keepHouse } from '../inbox/pipeline'
import { current, redeem, sent, signIn } from './signing-in'

/* What housekeeping deletes of sessions and codes, and what it must leave. */

let start: number
beforeEach(() => {
  start = stopClock()
})

const count = async (table: 'sessions' | 'sign_in_codes', column: 'user_id' | 'email', value: string) =>
  (await DIRECTORY.prepare(`SELECT count(*) AS n FROM ${table} WHERE ${column} = ?`).bind(value).first<{ n: number }>())
    ?.n

it('leaves a session in use until its seventh day is over, and what it is answered then for a day', async () => {
  const { token, user } = await signIn()
  for (let day = 0; day < 7; day++) {
    for (const hours of [0, 11, 22]) {
      setClock(start + day * DAY + hours * HOUR)
      expect((await current(token)).status).toBe(200)
    }
    await keepHouse()
  }
  setClock(start + 7 * DAY - 1)
  await keepHouse()
  expect((await current(token)).status).toBe(200)
  setClock(start + 8 * DAY - MINUTE)
  await keepHouse()
  expect((await current(token)).body.code).toBe('session_expired')
  setClock(start + 8 * DAY + MINUTE)
  await keepHouse()
  expect((await current(token)).body.code).toBe('unknown_session')
  expect(await count('sessions', 'user_id', user.id)).toBe(0)
})

it('leaves a code as long as it can be redeemed, and deletes it after a day', async () => {
  const { challenge, code, email } = await sent()
  advance(10 * MINUTE - 1)
  await keepHouse()
  expect((await redeem(challenge, code)).status).toBe(201)
  setClock(start + DAY + 1)
  await keepHouse()
  expect(await count('sign_in_codes', 'email', email)).toBe(0)
})
