import { expect, it } from 'vitest'
import { call, DIRECTORY, storedTables } from '../harness'
import { newWorld, type World } from '../routes/world'
import { submit, visit } from './visit'

/*
 * A form changes what its page has shown, and nothing if that has changed since: the field that says what was shown is sent as the
 * page had it.
 */

type Case = {
  /** The page with the form, and where it is sent. */
  page: (world: World) => string
  to: (world: World) => string
  /** The hidden field, and the others. */
  field: string
  fields: Record<string, string>
  /** What happens before the form is sent. */
  meanwhile: (world: World) => Promise<unknown>
}

const at = ({ project }: World, path: string) => `/console/p/${project}/platform/${path}`
const patch = ({ project, owner }: World, path: string, json: object) =>
  call(`/platform/v1/${path}`, { method: 'PATCH', project, token: owner.token, json })

const CASES: Record<string, Case> = {
  'the role of a member': {
    page: (world) => at(world, 'settings/members'),
    to: (world) => at(world, `settings/members/${world.member.user}/role`),
    field: 'from',
    fields: { role: 'admin' },
    meanwhile: (world) =>
      DIRECTORY.prepare("UPDATE members SET role = 'viewer' WHERE user_id = ?").bind(world.member.user).run(),
  },
  'a consumer': {
    page: (world) => at(world, `consumers/${world.consumer}/edit`),
    to: (world) => at(world, `consumers/${world.consumer}/edit`),
    field: 'etag',
    fields: { name: 'By form' },
    meanwhile: (world) => patch(world, `consumers/${world.consumer}`, { name: 'Meanwhile' }),
  },
  'a plan': {
    page: (world) => at(world, `billing/plans/${world.plan}/edit`),
    to: (world) => at(world, `billing/plans/${world.plan}/edit`),
    field: 'etag',
    fields: { key: 'pro', name: 'By form', rank: '1', state: 'active', step: 'save' },
    meanwhile: (world) => patch(world, `billing/plans/${world.plan}`, { name: 'Meanwhile' }),
  },
  'the secret of an API key': {
    page: (world) => at(world, `settings/api-keys/${world.other.key.id}/rotate`),
    to: (world) => at(world, `settings/api-keys/${world.other.key.id}/rotate`),
    field: 'known',
    fields: {},
    meanwhile: ({ project, owner, other }) =>
      call(`/platform/v1/api-keys/${other.key.id}/rotate`, { method: 'POST', project, token: owner.token }),
  },
}

/** The value of a hidden field of the form that is sent to an address, or of the first form. */
function hiddenIn(text: string, to: string, field: string): string {
  const form = text.split('<form').find((part) => part.includes(`action="${to}"`)) ?? text
  const value = new RegExp(`name="${field}" value="([^"]*)"`).exec(form)?.[1]
  if (value === undefined) throw new Error(`the page has no field ${field}`)
  return value.replaceAll('&quot;', '"')
}

it.each(Object.entries(CASES))('%s', async (_, { page, to, field, fields, meanwhile }) => {
  const world = await newWorld()
  const { text } = await visit(page(world), world.owner.token)
  const seen = hiddenIn(text, to(world), field)
  await meanwhile(world)
  const before = await storedTables()
  await submit(to(world), world.owner.token, { ...fields, [field]: seen })
  expect(await storedTables()).toEqual(before)

  // As the page is now, the form is taken.
  const again = hiddenIn((await visit(page(world), world.owner.token)).text, to(world), field)
  expect(again).not.toBe(seen)
  expect((await submit(to(world), world.owner.token, { ...fields, [field]: again })).status).toBeLessThan(400)
  expect(await storedTables()).not.toEqual(before)
})
