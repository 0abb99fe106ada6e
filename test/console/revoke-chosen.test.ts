import { expect, it } from 'vitest'
import { HOUR } from '../../src/lib/time'
import { advance, stopClock } from '../clock'
import { addMember, call, countingD1, freshProject, mint, ORDINARY, STORE, stripeConnection } from '../harness'
import { formToken, submit, visit } from './visit'

/** Several keys that are ticked in the list and revoked together. */

async function newPlace(names: string[]) {
  const { project, owner } = await freshProject()
  const keys = `/console/p/${project}/platform/settings/api-keys`
  const made: Awaited<ReturnType<typeof mint>>[] = []
  for (const name of names) made.push(await mint(owner.token, project, { name }))
  const ids = made.map(({ key }) => key.id)
  const ask = (chosen: string[], token = owner.token) =>
    visit(`${keys}/revoke?${new URLSearchParams(chosen.map((id) => ['id', id]))}`, token)
  const revoke = async (chosen: string[], token = owner.token) => {
    const form = new URLSearchParams({ form_token: await formToken(token) })
    for (const id of chosen) form.append('id', id)
    return visit(`${keys}/revoke`, token, { form })
  }
  const self = (at: number) => call('/platform/v1/api-keys/self', { token: made[at]?.secret ?? '', project })
  const statuses = () => Promise.all(made.map(async (_, at) => (await self(at)).status))
  const entries = async () => {
    const { results } = await STORE.prepare(
      "SELECT object_id, actor_id, request_id, details FROM audit_log WHERE project_id = ? AND action = 'api_key.revoked'",
    )
      .bind(project)
      .all<{ object_id: string; actor_id: string; request_id: string; details: string | null }>()
    return results
  }
  return { project, owner, keys, made, ids, ask, revoke, self, statuses, entries }
}

it('asks first, with what each key is used for, and revokes those that were ticked, each with its own entry', async () => {
  const { owner, keys, ids, ask, revoke, self, statuses, entries } = await newPlace(['One', 'Two', 'Three'])
  stopClock()
  const { text: list } = await visit(keys, owner.token)
  for (const id of ids) expect(list).toContain(`<input type="checkbox" name="id" value="${id}"`)
  expect(list).toContain(`<form action="${keys}/revoke" class="choosing" autocomplete="off">`)
  await self(0)
  await self(0)
  const chosen = ids.slice(0, 2)
  const { text } = await ask(chosen)
  expect(text).toContain('Revoke 2 keys?')
  expect(text).toContain('1 key was used in the last hour.')
  expect(text).not.toContain('Three')
  const rows = text.split('<tr>').slice(2)
  const numbers = rows.map((row) => [...row.matchAll(/<td class="number"[^>]*>(\d+)</g)].map(([, n]) => n))
  // The newest first.
  expect(numbers).toEqual([
    ['0', '0', '0'],
    ['2', '2', '2'],
  ])
  advance(2 * HOUR)
  expect((await ask(chosen)).text).not.toContain('used in the last hour.')
  const answer = await revoke([...text.matchAll(/type="hidden" name="id" value="(\w+)"/g)].map(([, id]) => id ?? ''))
  expect([answer.status, answer.headers.get('Location')]).toEqual([303, `${keys}?done=chosen_keys_revoked`])
  expect(await statuses()).toEqual([401, 401, 200])
  const told = await entries()
  expect(told.map(({ object_id }) => object_id).sort()).toEqual([...chosen].sort())
  expect(told.map(({ actor_id, details }) => [actor_id.slice(0, 4), details])).toEqual(chosen.map(() => ['usr_', null]))
  expect(new Set(told.map(({ request_id }) => request_id)).size).toBe(1)
})

it('says which keys were revoked before or are not there, and revokes the others', async () => {
  const { project, owner, keys, ids, ask, revoke, statuses, entries } = await newPlace(['Gone before', 'Still here'])
  const other = await newPlace(['Foreign'])
  await call(`/platform/v1/api-keys/${ids[0]}`, { method: 'DELETE', project, token: owner.token })
  const chosen = [...ids, ...other.ids, 'key_none']
  const { text } = await ask(chosen)
  expect(text).toContain('Revoke 1 key?')
  expect(text).toContain('Already revoked: “Gone before”.')
  expect(text).toContain('Not in this project: 2 selected keys.')
  expect(text).not.toContain('Foreign')
  expect((await revoke(chosen)).headers.get('Location')).toBe(`${keys}?done=chosen_keys_revoked_partly`)
  expect([await statuses(), await other.statuses()]).toEqual([[401, 401], [200]])
  expect([(await entries()).length, await other.entries()]).toEqual([2, []])
  // The second time, there is nothing to revoke.
  const again = await revoke(chosen)
  expect([again.status, (await entries()).length]).toEqual([409, 2])
  expect(again.text).toContain('No keys to revoke')
  const none = await ask([])
  expect([none.status, none.text.includes('Select keys in the list first.')]).toEqual([200, true])
})

it('counts the use of the last hour, since yesterday and of seven days', async () => {
  const { project, ids, ask } = await newPlace(['Used', 'Used before'])
  const today = Math.floor(Date.now() / 86_400_000)
  const step = Math.floor(Date.now() / 600_000)
  const days = [
    [today, { requests: 5, [`at:${step}`]: 3, [`at:${step - 6}`]: 2 }],
    [today - 1, { requests: 10 }],
    [today - 2, { requests: 20 }],
    [today - 6, { requests: 100 }],
    [today - 7, { requests: 1000 }],
  ] as const
  const insert = STORE.prepare(
    'INSERT INTO api_key_days (project_id, key_id, day, counts, seen) VALUES (?, ?, ?, ?, ?)',
  )
  const seen = JSON.stringify({ networks: [], agents: [], calls: [] })
  const rows = days.map(([day, counts]) => [ids[0], day, counts] as const)
  const used = [...rows, [ids[1], today - 1, { requests: 4 }] as const]
  await STORE.batch(used.map(([id, day, counts]) => insert.bind(project, id, day, JSON.stringify(counts), seen)))
  const { text } = await ask(ids)
  const numbers = [...text.matchAll(/<td class="number"[^>]*>(\d+)</g)].map(([, n]) => n)
  expect(numbers).toEqual(['0', '4', '4', '3', '15', '135'])
  expect(text).toContain('1 key was used in the last hour.')
})

it('takes at most 100 keys', async () => {
  const { ids, revoke, statuses } = await newPlace(['One'])
  const many = Array.from({ length: 100 }, (_, i) => `key_${i}`)
  const refused = await revoke([...many, ...ids])
  expect([refused.status, await statuses()]).toEqual([422, [200]])
  expect((await revoke([...many.slice(1), ...ids])).status).toBe(303)
  expect(await statuses()).toEqual([401])
})

it('offers it only to those who may revoke', async () => {
  const { project, keys, ids, revoke, ask, statuses } = await newPlace(['One'])
  const viewer = await addMember(project, 'viewer')
  expect((await visit(keys, viewer.token)).text).not.toContain('type="checkbox"')
  expect([(await ask(ids, viewer.token)).status, (await revoke(ids, viewer.token)).status]).toEqual([403, 403])
  expect(await statuses()).toEqual([200])
  const developer = await addMember(project, 'developer')
  expect((await revoke(ids, developer.token)).status).toBe(303)
  expect(await statuses()).toEqual([401])
})

it('says which other keys a rotated key could have opened, and how much they are used', async () => {
  const { project, owner, keys } = await newPlace([])
  const scopes = ['api_keys:write', 'billing:read']
  const root = await mint(owner.token, project, { name: 'Root', scopes })
  const leaf = await mint(owner.token, project, { name: 'Leaf', scopes: ['billing:read'] })
  const plain = await visit(`${keys}/${root.key.id}/rotate`, owner.token)
  expect(plain.text).not.toContain('Anyone who held this key')
  const path = `/platform/v1/api-keys/${leaf.key.id}/rotate`
  const { body } = await call(path, { method: 'POST', project, token: root.secret })
  await call('/platform/v1/api-keys/self', { token: body.secret, project })
  for (const verb of ['rotate', 'revoke']) {
    const { text } = await visit(`${keys}/${root.key.id}/${verb}`, owner.token)
    expect(text).toMatch(/who held this key also has the secret of 1 other key.*Leaf.*<td class="number"[^>]*>1</s)
    expect(text.includes('Rotating this key does not change it.')).toBe(verb === 'rotate')
    expect(text.includes('name="issued"')).toBe(verb === 'revoke')
  }
  await submit(`${keys}/${root.key.id}/rotate`, owner.token, { when: 'now' })
  expect((await call('/platform/v1/api-keys/self', { token: body.secret, project })).status).toBe(200)
})

it('says which other keys and signing secrets somebody who had one of the keys may know, in no further trip', async () => {
  const { project, owner, ids, ask, made, keys } = await newPlace(['One'])
  const { id } = await stripeConnection(owner.token, project)
  for (const name of ['Two', 'Three', 'Four'])
    ids.push((await mint(owner.token, project, { name, scopes: ORDINARY })).key.id)
  const [one = '', two = '', three = ''] = ids
  const before = countingD1()
  const { text: none } = await visit(`${keys}/revoke?id=${one}&id=${two}`, owner.token, { bindings: { DB: before.DB } })
  expect(none).not.toMatch(/Anyone who held|Signing secrets/)
  const api = (path: string, json?: object) =>
    call(`/platform/v1${path}`, { method: 'POST', project, token: made[0]?.secret ?? '', ...(json && { json }) })
  await api(`/billing/connections/${id}/secrets`, { signing_secret: 'whsec_of_the_first_key' })
  for (const key of [two, three]) await api(`/api-keys/${key}/rotate`)
  const { DB, count } = countingD1()
  const { text } = await visit(`${keys}/revoke?id=${one}&id=${two}`, owner.token, { bindings: { DB } })
  expect(text).toMatch(/held one of these keys also has the secret of 1 other key.*Three/s)
  expect(text).toMatch(new RegExp(`were added with these keys.*stay on 1 connection.*/connections/${id}"`, 's'))
  expect(text).not.toContain('Four')
  expect(count.trips).toBe(before.count.trips)
  expect((await ask([one, two, three])).text).not.toContain('Anyone who held')
  // Through the hands of another key, and as the token that is being replaced.
  await call(`/platform/v1/api-keys/${three}/rotate`, {
    method: 'POST',
    project,
    token: owner.token,
    json: { grace_s: 60 },
  })
  expect((await ask([one])).text).toMatch(/the secrets of 2 other keys/)
  expect((await ask([two])).text).not.toContain('Anyone who held')
})
