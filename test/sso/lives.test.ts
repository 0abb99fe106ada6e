import { expect, it } from 'vitest'
import { HOUR, MINUTE, SECOND } from '../../src/lib/time'
import { LOGIN_TTL } from '../../src/sso/limits'
import { advance, stopClock } from '../clock'
import { call } from '../harness'
import { comeBack, customersWorld, open } from './customers'
import { ssoMember, team } from './team/team'

/*
 * What is under way lives for a time that the docs state: a second before its end it works, and a second after it does not. A step
 * that is taken late leaves the next one its whole time.
 */

const world = () => {
  stopClock()
  return customersWorld()
}
const ADA = { subject: 'ada' }

it.each([
  [LOGIN_TTL - SECOND, 302],
  [LOGIN_TTL + SECOND, 400],
])('a link that is opened after %i ms: %i', async (ms, status) => {
  const { authorize } = await world()
  const { body } = await authorize()
  advance(ms)
  expect((await call(body.url)).status).toBe(status)
})

it.each([
  [LOGIN_TTL - SECOND, 303],
  [LOGIN_TTL + SECOND, 400],
])('a browser that comes back %i ms after a link was opened late: %i', async (ms, status) => {
  const { authorize } = await world()
  const { body } = await authorize()
  advance(LOGIN_TTL - SECOND)
  const at = await open(body.url)
  advance(ms)
  expect((await comeBack(at, ADA)).status).toBe(status)
})

it('a session from single sign-on ends twelve hours after its start, however busy', async () => {
  stopClock()
  const { token } = await ssoMember(await team())
  const ask = async () => (await call('/auth/sessions/current', { token })).status
  for (let minutes = 0; minutes < 12 * 60 - 30; minutes += 30) {
    advance(30 * MINUTE)
    expect(await ask()).toBe(200)
  }
  advance(30 * MINUTE - SECOND)
  expect(await ask()).toBe(200)
  advance(SECOND)
  expect(await ask()).toBe(401)
  advance(HOUR)
  expect(await ask()).toBe(401)
})
