import { beforeEach, expect, it } from 'vitest'
import { DAY, HOUR, MINUTE } from '../../src/lib/time'
import { advance, setClock, stopClock } from '../clock'
import { DIRECTORY, tamperedD1 } from '../harness'
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

it('deletes what has ended in steps, however much there is', async () => {
  const n = 4500
  const seed = (sql: string) =>
    DIRECTORY.prepare(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${n}) INSERT INTO ${sql} FROM n`,
    )
  await DIRECTORY.batch([
    seed(
      "sessions (id, user_id, hash, created_at, expires_at, last_used_at) SELECT 'ses_00' || i, 'u', 'h' || i, 1, 1, 1",
    ),
    seed("sign_in_codes (id, email, code_hash, created_at, expires_at) SELECT 'chl_00' || i, 'e', 'h', 1, 1"),
    seed("account_events (user_id, id, type, at) SELECT 'u', 'aev_00' || i, 'sign_in', 1"),
    seed("account_browsers (user_id, browser, seen_at) SELECT 'u', 'b' || i, 1"),
    seed("spent_challenges (id) SELECT 'pch_00' || i"),
  ])
  const deleted: number[] = []
  const DB = tamperedD1(async ({ sql, run }) => {
    const results = await run()
    for (const [i, one] of sql.split(';\n').entries()) {
      if (/^delete from "(sessions|sign_in|account|spent)/.test(one)) deleted.push(results[i]?.results.length ?? 0)
    }
    return results
  })
  await keepHouse({ DB })
  expect(Math.max(...deleted)).toBe(2000)
  expect(deleted.reduce((a, b) => a + b)).toBe(5 * n)
})
