import { describe, expect, it } from 'vitest'
import { stopClock } from '../clock'
import { submit } from '../console/visit'
import {
  addMember,
  call,
  countingD1,
  D1_LOST,
  DIRECTORY,
  freshProject,
  invite,
  invited,
  KEYS,
  mailbox,
  mint,
  type RequestOptions,
  signedIn,
  storedTables,
  storedText,
  tamperedD1,
  unconfirm,
} from '../harness'
import { keepHouse } from '../inbox/pipeline'
import { byCode, prove, withPasskey } from '../passkeys/people'
import { end } from '../projects/ending'
import { logged, rolesIn, told } from './members'

const erase = ({ token }: { token: string }, query = '', options: RequestOptions = {}) =>
  call(`/auth/user${query}`, { method: 'DELETE', token, ...options })

/** A developer of two projects who has minted a key in each. */
async function busy() {
  const [one, two] = [await freshProject(), await freshProject()]
  const user = await addMember(one.project, 'developer')
  await DIRECTORY.prepare("INSERT INTO members (project_id, user_id, role, created_at) VALUES (?, ?, 'developer', 1)")
    .bind(two.project, user.user)
    .run()
  const keys = [await mint(user.token, one.project), await mint(user.token, two.project)]
  return { one, two, user, keys }
}

/** Audit entries about an invitation, as older versions wrote them: with a copy of its address. */
async function oldEntries(project: string, invitation: string, email: string, n: number) {
  await DIRECTORY.prepare(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?4)
      INSERT INTO audit_log (project_id, id, actor_type, actor_id, action, object_type, object_id, request_id, details)
      SELECT ?1, 'aud_' || substr(?2, 5) || lower(hex(randomblob(8))), 'system', 'usr_x', 'invitation.resent', 'invitation', ?2,
        'req_x', json_object('email', ?3, 'role', 'viewer') FROM n`,
  )
    .bind(project, invitation, email, n)
    .run()
}

describe('deleting an account', () => {
  it('leaves every project, and nothing of the address anywhere', async () => {
    const { one, two, user, keys } = await busy()
    const third = await freshProject()
    const { body } = await invite(third.project, third.owner.token, { email: user.email })
    await invited((await freshProject()).project, { email: user.email, state: 'accepted' })
    await call('/auth/codes', { method: 'POST', json: { email: user.email }, bindings: { EMAIL: mailbox().EMAIL } })
    await DIRECTORY.prepare('UPDATE invitations SET send_error = ? WHERE email = ?')
      .bind(`no mailbox ${user.email}`, user.email)
      .run()
    expect(await storedText()).toContain(user.email)

    const answer = await erase(user)
    expect([answer.status, answer.text]).toEqual([204, ''])
    expect(await storedText()).not.toContain(user.email)
    expect(told(await call('/auth/sessions', { token: user.token }))).toEqual([401, 'unknown_session'])
    for (const { project, owner } of [one, two]) {
      expect(Object.keys(await rolesIn(project))).toEqual([owner.user])
      expect(await logged(project, user.user)).toEqual([['member.left', { role: 'developer' }]])
      const log = await call('/platform/v1/audit-log?action=member.left', { project, token: owner.token })
      expect(log.body.data[0].actor).toMatchObject({ id: user.user, email: null })
    }
    expect((await logged(third.project, body.id)).map(([action]) => action)).toEqual([
      'member.invited',
      'invitation.declined',
    ])
    const listed = await call(KEYS, { project: one.project, token: one.owner.token })
    expect(listed.body.data[0].created_by).toEqual({ user_id: user.user, email: null, is_member: false })
    const alive = await call(KEYS, { project: one.project, token: keys[0]?.secret ?? '' })
    expect(alive.status).toBe(200)
  })

  it('takes nothing from anybody else: every row without the user stays as it is', async () => {
    const { one, user } = await busy()
    const other = await addMember(one.project, 'admin')
    await mint(other.token, one.project)
    await withPasskey()
    await invite(one.project, one.owner.token)
    /** The rows of each table that do not name the user. Counters go on. */
    const ofOthers = async () =>
      Object.entries(await storedTables())
        .filter(([table]) => !table.endsWith(' directory_changes'))
        .flatMap(([table, rows]) => (JSON.parse(rows) as object[]).map((row) => `${table} ${JSON.stringify(row)}`))
        .filter((row) => !row.includes(user.user) && !row.includes(user.email))
    const before = await ofOthers()
    expect((await erase(user, '?revoke_keys=true')).status).toBe(204)
    const after = new Set(await ofOthers())
    expect(before.filter((row) => !after.has(row))).toEqual([])
  })

  it('shows an address in the audit log until then, and costs the same however long the log is', async () => {
    const world = await freshProject()
    const guest = await signedIn()
    const { body } = await invite(world.project, world.owner.token, { email: guest.email })
    const shown = async () => {
      const { project, owner } = world
      const log = await call('/platform/v1/audit-log?object_type=invitation', { project, token: owner.token })
      return log.body.data.map(({ action, details }) => [action, details])
    }
    expect(await shown()).toEqual([['member.invited', { role: 'viewer', email: guest.email }]])
    await oldEntries(world.project, body.id, guest.email, 4500)
    const { DB, count } = countingD1()
    expect((await erase(guest, '', { bindings: { DB } })).status).toBe(204)
    expect(count.rows_read).toBeLessThan(100)
    // From the first moment, no entry shows it, an old one neither.
    const entries = await shown()
    expect(entries).toHaveLength(20)
    expect(JSON.stringify(entries)).not.toContain(guest.email)
    expect(entries.at(-1)).toEqual(['invitation.resent', { role: 'viewer' }])
  })

  it('takes the copies of addresses from entries of older versions, step by step', async () => {
    stopClock() // housekeeping stops after some seconds
    await DIRECTORY.prepare("DELETE FROM state WHERE name = 'address_passes'").run()
    const world = await freshProject()
    const guest = await signedIn()
    const { body } = await invite(world.project, world.owner.token, { email: guest.email })
    await oldEntries(world.project, body.id, guest.email, 4500)
    await erase(guest)
    expect(await storedText()).toContain(guest.email)
    const most = { rows: 0 }
    const DB = tamperedD1(async ({ sql, run }) => {
      const answer = await run()
      if (sql.includes('json_remove')) {
        const metas = [answer].flat() as { meta: { rows_written: number; rows_read: number } }[]
        for (const { meta } of metas) most.rows = Math.max(most.rows, meta.rows_written)
      }
      return answer
    })
    await keepHouse({ DB })
    expect(await storedText()).not.toContain(guest.email)
    expect(most.rows).toBe(2000)
    // The second pass is for what a worker of the older version wrote during the first one. Then there is none.
    await oldEntries(world.project, body.id, guest.email, 1)
    await keepHouse()
    expect(await storedText()).not.toContain(guest.email)
    const passes = await DIRECTORY.prepare("SELECT value FROM state WHERE name = 'address_passes'").first('value')
    expect(passes).toBe(2)
    await keepHouse()
    expect(await DIRECTORY.prepare("SELECT value FROM state WHERE name = 'address_passes'").first('value')).toBe(2)
  })

  it('leaves no row that belongs to the user alone, in any table', async () => {
    const { user } = await busy()
    const { results: tables } = await DIRECTORY.prepare(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE '%`user_id`%'",
    ).all<{ name: string }>()
    const rows = async () => {
      const counted = tables.map(({ name }) =>
        DIRECTORY.prepare(`SELECT '${name}' AS name, count(*) AS n FROM "${name}" WHERE user_id = ?`).bind(user.user),
      )
      const found = await DIRECTORY.batch<{ name: string; n: number }>(counted)
      return Object.fromEntries(found.flatMap(({ results }) => results).map(({ name, n }) => [name, n > 0]))
    }
    await DIRECTORY.batch(
      [
        "INSERT INTO account_browsers VALUES (?, 'hash', 1)",
        "INSERT INTO account_events (user_id, id, type, at) VALUES (?, 'aev_1', 'sign_in', 1)",
        `INSERT INTO passkeys (id, user_id, credential_id, public_key, counter, transports, name, created_at, backed_up)
          VALUES ('psk_1', ?, 'credential', 'key', 0, '[]', 'Mine', 1, 0)`,
        `INSERT INTO sso_identities (id, project_id, connection_id, issuer, subject, user_id, created_at, last_used_at)
          VALUES ('idn_1', 'prj_1', 'sso_1', 'issuer', 'subject', ?, 1, 1)`,
        "INSERT INTO former_members VALUES ('prj_1', ?)",
        "INSERT INTO recovery_codes (user_id, hash, created_at) VALUES (?, 'hash', 1)",
      ].map((statement) => DIRECTORY.prepare(statement).bind(user.user)),
    )
    await DIRECTORY.prepare('UPDATE sessions SET second_factor_at = 1 WHERE user_id = ?').bind(user.user).run()
    const before = await rows()
    expect(before).toEqual(Object.fromEntries(tables.map(({ name }) => [name, true])))
    await erase(user)
    expect(await rows()).toEqual(Object.fromEntries(tables.map(({ name }) => [name, false])))
  })

  it('revokes the keys if asked', async () => {
    const { one, two, user, keys } = await busy()
    expect((await erase(user, '?revoke_keys=true')).status).toBe(204)
    for (const [n, { project }] of [one, two].entries()) {
      expect(told(await call(KEYS, { project, token: keys[n]?.secret ?? '' }))).toEqual([401, 'key_revoked'])
    }
  })

  it('lets the address sign up again, as a new user', async () => {
    const { user } = await busy()
    await erase(user)
    const mail = mailbox()
    const bindings = { EMAIL: mail.EMAIL, SIGN_UP: 'open', SIGN_IN_DELIVERY: 'email' }
    const asked = await call('/auth/codes', { method: 'POST', json: { email: user.email }, bindings })
    const code = /[0-9A-HJKMNP-TV-Z]{4}-?[0-9A-HJKMNP-TV-Z]{4}/.exec(mail.mails[0]?.text ?? '')?.[0]
    const json = { challenge: asked.body.challenge, code }
    const again = await call('/auth/sessions', { method: 'POST', json, bindings })
    expect([again.status, again.body.user.email]).toEqual([201, user.email])
    expect(again.body.user.id).not.toBe(user.user)
    expect((await call('/platform/v1/projects', { token: again.body.token })).body.data).toEqual([])
  })

  it('needs a confirmed session of a user, and no only owner', async () => {
    const { project, owner } = await freshProject('Mine')
    const { secret } = await mint(owner.token, project)
    expect(told(await call('/auth/user', { method: 'DELETE', token: secret, project }))).toEqual([
      403,
      'console_session_required',
    ])
    await unconfirm(owner.user)
    expect(told(await erase(owner))).toEqual([403, 'confirmation_required'])
    await unconfirm(owner.user, 0)
    const refused = await erase(owner)
    expect(told(refused)).toEqual([409, 'last_owner'])
    expect(refused.body.detail).toContain(`“Mine” (${project})`)
    expect(await rolesIn(project)).toEqual({ [owner.user]: 'owner' })
    await addMember(project, 'owner')
    expect((await erase(owner)).status).toBe(204)
  })

  it('needs the second factor of a user who has a passkey', async () => {
    const { authenticator, ...person } = await withPasskey()
    const thief = await byCode(person)
    expect(told(await erase(thief))).toEqual([403, 'passkey_required'])
    expect(
      (await submit('/console/sessions/erase', thief.token, { email: person.email })).headers.get('Location'),
    ).toMatch(/^\/console\/second-factor/)
    expect((await call('/auth/passkeys', { token: thief.token })).body.data).toHaveLength(1)
    await prove(thief.token, authenticator)
    expect((await erase(thief)).status).toBe(204)
  })

  it('is not blocked by a deleted project', async () => {
    const world = await freshProject()
    await end(world)
    expect((await erase(world.owner)).status).toBe(204)
    expect(await rolesIn(world.project)).toEqual({})
  })

  it('goes on where it ended, if a step fails', async () => {
    const { one, two, user } = await busy()
    let left = 0
    const DB = tamperedD1(async ({ sql, run }) => {
      if (/delete from "members"/.test(sql) && ++left === 2) throw new Error(D1_LOST)
      return run()
    })
    expect((await erase(user, '', { bindings: { DB } })).status).toBe(503)
    const roles = async () => [await rolesIn(one.project), await rolesIn(two.project)]
    expect((await roles()).filter((some) => some[user.user])).toHaveLength(1)
    expect((await erase(user)).status).toBe(204)
    expect((await roles()).filter((some) => some[user.user])).toHaveLength(0)
    for (const { project } of [one, two]) expect(await logged(project, user.user)).toHaveLength(1)
  })

  it('touches nobody else', async () => {
    const bystander = await signedIn()
    const { id } = await invited((await freshProject()).project, { email: bystander.email })
    await erase((await busy()).user)
    const list = await call('/auth/invitations', { token: bystander.token })
    expect(list.body.data.map((row) => row.id)).toEqual([id])
  })
})
