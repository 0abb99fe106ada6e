import { beforeEach, describe, expect, it } from 'vitest'
import { DAY, HOUR, iso } from '../../src/lib/time'
import { advance, stopClock } from '../clock'
import { call, freshKey, mint, STORE } from '../harness'

const KEYS = '/platform/v1/api-keys'

beforeEach(() => {
  stopClock()
})

const patch = (world: { project: string }, token: string, id: string, json: unknown) =>
  call(`${KEYS}/${id}`, { method: 'PATCH', token, project: world.project, json })
const audited = async (id: string) => {
  const { results } = await STORE.prepare('SELECT action, details FROM audit_log WHERE object_id = ? ORDER BY id')
    .bind(id)
    .all<{ action: string; details: string }>()
  return results.filter(({ action }) => action === 'api_key.updated').map(({ details }) => JSON.parse(details))
}

describe('one API key', () => {
  it('is read by its id, without its secret, by whoever may and by itself', async () => {
    const world = await freshKey()
    const { key, secret } = await mint(world.owner.token, world.project, { scopes: ['billing:read'] })
    const read = (token: string, id = key.id) => call(`${KEYS}/${id}`, { token, project: world.project })
    for (const token of [world.owner.token, world.secret, secret]) {
      const { status, body, text } = await read(token)
      expect([status, text.includes(secret)]).toEqual([200, false])
      expect(body).toEqual({ ...key, last_used_at: token === secret ? null : body.last_used_at })
    }
    expect(await read(secret, world.key.id)).toMatchObject({ status: 403, body: { code: 'insufficient_scope' } })
    const others = await freshKey()
    expect((await read(world.secret, others.key.id)).status).toBe(404)
    await call(`${KEYS}/${key.id}`, { method: 'DELETE', token: world.secret, project: world.project })
    expect((await read(world.secret)).status).toBe(404)
    expect((await patch(world, world.secret, key.id, { name: 'late' })).status).toBe(404)
  })

  it('is renamed and made to expire, with an audit row for each change that had an effect', async () => {
    const world = await freshKey()
    const { key, secret } = await mint(world.owner.token, world.project)
    const end = iso(Date.now() + DAY)
    const named = await patch(world, world.secret, key.id, { name: ' Import ' })
    expect(named).toMatchObject({ status: 200, body: { ...key, name: 'Import', last_used_at: null } })
    await patch(world, world.secret, key.id, { name: 'Import' })
    advance(1) // entries of one millisecond have no order
    expect((await patch(world, secret, key.id, { expires_at: end })).body).toMatchObject({ expires_at: end })
    await patch(world, world.secret, key.id, { name: 'Import', expires_at: end })
    advance(1)
    // An end that stays as it is does not keep the name from changing.
    expect((await patch(world, secret, key.id, { name: 'Export', expires_at: end })).body.name).toBe('Export')
    const changes = [
      { name: 'Import', before: { name: 'test key' } },
      { expires_at: end, before: { expires_at: null } },
      { name: 'Export', expires_at: end, before: { name: 'Import', expires_at: end } },
    ]
    expect(await audited(key.id)).toEqual(changes)
    expect((await call(`${KEYS}/self`, { token: secret, project: world.project })).status).toBe(200)
    advance(DAY)
    const late = await call(`${KEYS}/self`, { token: secret, project: world.project })
    expect([late.status, late.body.code]).toEqual([401, 'key_expired'])
  })

  it.each([
    ['later than now', 2 * HOUR, 'must not be later than the key expires now'],
    ['in the past', -1, 'must be in the future'],
    ['now', 0, 'must be in the future'],
  ])('takes no end %s, and then no other change either', async (_, ms, message) => {
    const world = await freshKey()
    const { key } = await mint(world.owner.token, world.project, { expires_at: iso(Date.now() + HOUR) })
    const refused = await patch(world, world.secret, key.id, { name: 'New', expires_at: iso(Date.now() + ms) })
    expect(refused.status).toBe(422)
    expect(refused.body.errors).toMatchObject([{ pointer: '/expires_at', code: 'out_of_range' }])
    expect(refused.body.errors[0].message).toContain(message)
    const { body } = await call(`${KEYS}/${key.id}`, { token: world.secret, project: world.project })
    expect(body).toEqual(key)
    expect(await audited(key.id)).toEqual([])
  })

  it.each([
    [{}, '', 'required'],
    [{ expires_at: null }, '/expires_at', 'wrong_type'],
    [{ scopes: ['billing:read'] }, '/scopes', 'unknown_field'],
    [{ name: ' ' }, '/name', 'out_of_range'],
  ])('refuses %j', async (json, pointer, code) => {
    const world = await freshKey()
    const { status, body } = await patch(world, world.secret, world.key.id, json)
    expect([status, body.errors[0].pointer, body.errors[0].code]).toEqual([422, pointer, code])
  })
})
