import { beforeAll, describe, expect, it } from 'vitest'
import { stopClock } from '../clock'
import {
  addMember,
  BESIDE,
  call,
  countingD1,
  freshKey,
  freshProject,
  invite,
  invited,
  mailbox,
  mint,
  signedIn,
} from '../harness'
import { accept, as } from './members'

// Once a minute, a key's use is written, which would be a trip more.
beforeAll(() => void stopClock())

/*
 * What each call costs: round trips after that of the credentials, and rows written, the audit row among them. A call may
 * write more only if it says so here.
 */

/** The trips and rows written of a call that is expected to succeed. */
async function cost(work: (bindings: object) => Promise<{ status: number; text: string }>) {
  const { DB, count } = countingD1()
  const answer = await work({ DB })
  expect(answer.status, answer.text).toBeLessThan(300)
  return { trips: count.trips, written: count.rows_written }
}
/** The trip that reads the session. */
const SESSION = 1

/** A row that counts the changes of the project on the day. */
const COUNTED = 1

describe('the cost of', () => {
  it('the list, with a session and with a key that the isolate knows', async () => {
    const { project, owner, secret } = await freshKey()
    await as(project, secret).members()
    const list = (path: string, token: string) =>
      cost((bindings) => call(`/platform/v1/${path}`, { token, project, bindings: bindings as never }))
    for (const path of ['members', `members/${owner.user}`, 'invitations']) {
      expect(await list(path, owner.token)).toEqual({ trips: SESSION + 1, written: 0 })
      // It rides with the credentials; in another database it is read at the same time.
      expect(await list(path, secret)).toEqual({ trips: 1 + BESIDE, written: 0 })
    }
  })

  it('a change of role: a trip, a row and its audit row', async () => {
    const { project, owner } = await freshProject()
    const person = await addMember(project, 'viewer')
    const give = (role: 'admin' | 'viewer') =>
      cost((bindings) => as(project, owner.token).give(person.user, role, { bindings }))
    expect(await give('admin')).toEqual({ trips: SESSION + 1, written: 2 + COUNTED })
    expect(await give('viewer')).toEqual({ trips: SESSION + 1, written: 2 + COUNTED })
    expect(await give('viewer')).toEqual({ trips: SESSION + 1, written: 0 })
  })

  it('an invitation: a trip, a row with three indexes and its audit row; then its email, a read and a row', async () => {
    const { project, owner } = await freshProject()
    const { EMAIL } = mailbox()
    const invited = await cost((bindings) => invite(project, owner.token, {}, { bindings: { EMAIL, ...bindings } }))
    expect(invited).toEqual({ trips: SESSION + 1 + 2, written: 5 + COUNTED + 1 })
  })

  it('resending: a trip, a row with an index and its audit row; then its email', async () => {
    const { project, owner } = await freshProject()
    const { id } = await invited(project)
    const { EMAIL } = mailbox()
    expect(await cost((bindings) => as(project, owner.token).resend(id, { bindings: { EMAIL, ...bindings } }))).toEqual(
      { trips: SESSION + 1 + 2, written: 3 + COUNTED + 1 },
    )
  })

  it('accepting: a trip, a member with its two indexes, the invitation and the audit row', async () => {
    const { project } = await freshProject()
    const person = await signedIn()
    const { id } = await invited(project, { email: person.email })
    expect(await cost((bindings) => accept(person, id, { bindings }))).toEqual({
      trips: SESSION + 1,
      written: 5 + COUNTED,
    })
    expect(await cost((bindings) => accept(person, id, { bindings }))).toEqual({ trips: SESSION + 1, written: 0 })
  })

  it('removing: a trip, the member, the former member with an index, and the audit row; with keys two trips more, and four rows a key', async () => {
    const { project, owner } = await freshProject()
    const { remove } = as(project, owner.token)
    const first = await addMember(project, 'developer')
    expect(await cost((bindings) => remove(first.user, '', { bindings }))).toEqual({
      trips: SESSION + 1,
      written: 4 + COUNTED,
    })
    const second = await addMember(project, 'developer')
    for (const _ of 'two') await mint(second.token, project)
    const withKeys = await cost((bindings) => remove(second.user, '?revoke_keys=true', { bindings }))
    expect(withKeys.trips).toBe(SESSION + 3)
    expect(withKeys.written).toBe(4 + COUNTED + 3 * 4)
  })
})
