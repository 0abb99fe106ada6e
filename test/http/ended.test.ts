import { expect, it } from 'vitest'
import { MAX_GRANTS } from '../../src/consumers/limits'
import { LOG_DAYS, MAX_OPEN_RESENDS } from '../../src/endpoints/limits'
import { MAX_MUTES } from '../../src/inbox/mutes/limits'
import { DAY } from '../../src/lib/time'
import { insertFeatures } from '../catalog/rows'
import { insertConsumer } from '../consumers/rows'
import { insertDevices } from '../devices/rows'
import { insertDomain } from '../domains/rows'
import { insertEndpoint } from '../endpoints/rows'
import { insertGrants } from '../entitlements/rows'
import { type Answer, DIRECTORY, fillTable, STORE } from '../harness'
import { insertConnection } from '../inbox/seeding'
import { byOwner, times } from '../routes/row'

/* A limit counts what is live. Rows that were revoked, deleted or finished, or that have expired, are only kept as history. */

type Owner = Awaited<ReturnType<typeof byOwner>>
type Limit = {
  /** What the refusal says. */
  code: string
  /** Fills a project up to the limit. @returns the call that makes one more */
  fill: (world: Owner) => Promise<(n: number) => Promise<Answer>>
  /** What ends one of the rows that a project has. `key`: the column that names it, if not `id`. */
  ends: { table: string; set: string; key?: string; database?: D1Database }
}

const grants = async ({ project, send }: Owner) => {
  await insertFeatures(project, 'sso')
  const consumer = await insertConsumer(project, 'ada')
  await insertGrants(project, consumer, MAX_GRANTS)
  return () => send('POST', '/platform/v1/billing/grants', { consumer, feature: 'sso' })
}

const LIMITS: Record<string, Limit> = {
  'a grant that was revoked': {
    code: 'grant_limit_reached',
    fill: grants,
    ends: { table: 'grants', set: 'revoked_at = 1' },
  },
  'a grant that has expired': {
    code: 'grant_limit_reached',
    fill: grants,
    ends: { table: 'grants', set: 'expires_at = 1' },
  },
  'an API key that was revoked': {
    code: 'key_limit_reached',
    fill: async ({ project, send }) => {
      await send('POST', '/platform/v1/api-keys', { name: 'first' })
      await fillTable('api_keys', project, 100)
      return () => send('POST', '/platform/v1/api-keys', { name: 'one more' })
    },
    ends: { table: 'api_keys', set: 'revoked_at = 1' },
  },
  'a device that was revoked': {
    code: 'device_limit_reached',
    fill: async ({ project, send }) => {
      await insertDevices(project, await insertConsumer(project, 'ada'), 'active', 100)
      return (n) => send('PUT', `/platform/v1/consumers/ext:ada/devices/new-${n}`, { platform: 'ios' })
    },
    ends: { table: 'devices', set: "state = 'revoked', revoked_at = 1" },
  },
  'a domain that was deleted': {
    code: 'domain_limit_reached',
    fill: async ({ project, send }) => {
      await times(50, () => insertDomain(project))
      return (n) =>
        send('POST', '/platform/v1/domains', {
          hostname: `${project.slice(4).toLowerCase()}-${n}.dev`,
          purpose: 'surface',
        })
    },
    ends: { table: 'domains', set: "state = 'released', next_check_at = NULL", database: DIRECTORY },
  },
  'a mute whose time is over': {
    code: 'mute_limit_reached',
    fill: async ({ project, send }) => {
      const connection = await insertConnection(project, 'stripe')
      const insert = STORE.prepare(
        "INSERT INTO cause_mutes (project_id, connection_id, kind, code, muted_at, muted_by) VALUES (?, ?, 'failed', ?, 1, 'usr_1')",
      )
      await STORE.batch(Array.from({ length: MAX_MUTES }, (_, i) => insert.bind(project, connection, `code_${i}`)))
      const codes = ['none', 'payload_invalid', 'object_busy']
      const path = `/platform/v1/billing/webhooks/failures/${connection}`
      return (n) => send('PUT', `${path}/${codes[n - 1]}/mute`, { until: null })
    },
    ends: { table: 'cause_mutes', set: 'until = 1', key: 'code' },
  },
  'a range that was resent': {
    code: 'resend_limit_reached',
    fill: async ({ project, owner, send }) => {
      const { id } = await insertEndpoint(project, owner.user)
      await send('POST', '/platform/v1/consumers', {}) // the change to resend
      const resend = () => send('POST', `/platform/v1/webhook-endpoints/${id}/resend`, { after: 0, until: 1 })
      await times(MAX_OPEN_RESENDS, resend)
      return resend
    },
    ends: { table: 'resends', set: `finished_at = ${Date.now() - LOG_DAYS * DAY}` },
  },
}

it.each(Object.entries(LIMITS))('%s takes no room', async (_, { code, fill, ends }) => {
  const { table, set, key = 'id', database = STORE } = ends
  const world = await byOwner()
  const one = await fill(world)
  const refused = { status: 409, body: { code } }
  expect(await one(1)).toMatchObject(refused)
  const ended = await database
    .prepare(
      `UPDATE ${table} SET ${set} WHERE project_id = ?1 AND ${key} = (SELECT min(${key}) FROM ${table} WHERE project_id = ?1)`,
    )
    .bind(world.project)
    .run()
  expect(ended.meta.changes).toBeGreaterThan(0)
  const made = await one(2)
  expect([200, 201, 202], made.text).toContain(made.status)
  expect(await one(3)).toMatchObject(refused)
})
