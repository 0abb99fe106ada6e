import { Hono } from 'hono'
import * as z from 'zod'
import { listDevices } from '../consumers/devices'
import { findConsumer, requireConsumer } from '../consumers/read'
import { refToChange, refToRead } from '../consumers/ref'
import { readFacts } from '../entitlements/answer'
import { presentAsked } from '../entitlements/explain'
import { factsIn } from '../entitlements/holders'
import { answer } from '../http/answer'
import { changeOf, projectOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { listOf, pageFields, paging } from '../http/page'
import { read } from '../http/read'
import { route } from '../http/route'
import { body, query } from '../http/validate'
import { sha256Hex } from '../lib/crypto'
import { malformedInPath } from '../lib/fault'
import { MINUTE } from '../lib/time'
import {
  DeviceShown,
  DeviceStateName,
  presentDevice,
  RegisterDeviceBody,
  RegisteredDevice,
  VerificationShown,
  VerifyBody,
} from './fields'
import { LAST_SEEN_EVERY, MAX_INSTALLATION_ID, MAX_REPLACED } from './limits'
import { registerDevice } from './register'
import { revokeDevice } from './revoke'
import { isToken, newDeviceToken } from './token'
import { byToken, factsByToken, reasonOf, recordSeen } from './verify'

const tag = 'Devices'
const actors = ['session', 'api_key'] as const
const mayRead = { actors, scope: 'consumers:read', project: true, reads: true } as const
const mayWrite = { actors, scope: 'consumers:write', project: true } as const
const ListQuery = z.strictObject({ ...pageFields, state: DeviceStateName.optional() })

/** The devices of one consumer. */
export const deviceRoutes = new Hono<HttpEnv>()
  .get(
    '/:consumer/devices',
    route({
      id: 'listDevices',
      summary: 'List the devices of a consumer',
      description: 'Newest first, revoked devices too.',
      tag,
      policy: mayRead,
      responses: { 200: { description: 'A page of devices.', schema: listOf(DeviceShown) } },
      faults: ['not_found', 'consumer_merged'],
    }),
    query(ListQuery),
    async (c) => {
      const sent = c.req.valid('query')
      const name = c.req.param('consumer')
      const ref = refToRead(name)
      const { db } = c.get('rt')
      const project = projectOf(c.get('actor'))
      const { before, take, page } = paging(`devices ${name}`, sent)
      const found = await read(c, {
        consumer: findConsumer(db, project, ref),
        rows: listDevices(db, project, ref, { state: sent.state, before, take }),
      })
      requireConsumer(found.consumer)
      return answer(c, page(found.rows, presentDevice), 200)
    },
  )
  .put(
    '/:consumer/devices/:device',
    route({
      id: 'registerDevice',
      summary: 'Register a device of a consumer, or change it',
      description: `The path names the device by the app's own id of the installation. A new device gets a token, which is shown once. Fields that you leave out stay as they are. You can repeat the call: the same fields again write nothing, except \`last_seen_at\` every ${LAST_SEEN_EVERY / MINUTE} minutes. With \`replace_oldest\`, at most ${MAX_REPLACED} devices are revoked.`,
      tag,
      policy: mayWrite,
      responses: {
        200: { description: 'The device was there.', schema: RegisteredDevice },
        201: { description: 'The device is new.', schema: RegisteredDevice },
      },
      faults: [
        'not_found',
        'consumer_merged',
        'consumer_erased',
        'consumer_blocked',
        'device_revoked',
        'device_limit_reached',
      ],
    }),
    body(RegisterDeviceBody),
    async (c) => {
      const { new_token: renew, when_full, ...fields } = c.req.valid('json')
      const of = {
        project_id: projectOf(c.get('actor')),
        ref: refToChange(c.req.param('consumer')),
        installation_id: installationIn(c.req.param('device')),
      }
      const how = { fields, replace: when_full === 'replace_oldest', renew, token: await newDeviceToken() }
      const { device, token, created } = await registerDevice(c.get('rt').db, of, how, changeOf(c))
      return answer(c, { device: presentDevice(device), token }, created ? 201 : 200)
    },
  )
  .delete(
    '/:consumer/devices/:device',
    route({
      id: 'revokeDevice',
      summary: 'Revoke a device of a consumer',
      description:
        'By its id. Its token is not valid from then on, and its installation cannot be registered again. Repeating the call changes nothing.',
      tag,
      policy: { ...mayWrite, ends: true },
      responses: { 204: { description: 'Revoked.' } },
      faults: ['not_found', 'consumer_merged'],
    }),
    async (c) => {
      const of = {
        project_id: projectOf(c.get('actor')),
        ref: refToChange(c.req.param('consumer')),
        id: c.req.param('device'),
      }
      await revokeDevice(c.get('rt').db, of, changeOf(c))
      return answer(c, null, 204)
    },
  )

const INSTALLATION_ID = new RegExp(`^[A-Za-z0-9._:@|+-]{1,${MAX_INSTALLATION_ID}}$`)
const RULE = `must have 1 to ${MAX_INSTALLATION_ID} letters, digits or characters of . _ : @ | + -`

/** The installation id in the path of a change. @throws {Fault} `validation_failed` */
export function installationIn(text: string): string {
  if (INSTALLATION_ID.test(text)) return text
  throw malformedInPath('installation id', RULE)
}

const UNKNOWN = { valid: false, reason: 'unknown', device: null, consumer: null, features: null } as const

export const verifyRoutes = new Hono<HttpEnv>().post(
  '/verify',
  route({
    id: 'verifyDevice',
    summary: 'Verify the token of a device',
    description:
      'For your server: whether the token that your app has sent is valid, and whose it is. A token that is not valid gets a 200 too, with the `reason`. Finds only devices of the project. With `features`, the response also has what a check says of them, if the token is valid.',
    tag: 'Devices',
    policy: { actors: ['session', 'api_key'], scope: 'entitlements:read', project: true, reads: true },
    responses: { 200: { description: 'Whether the token is valid.', schema: VerificationShown } },
  }),
  body(VerifyBody),
  async (c) => {
    const { token, features } = c.req.valid('json')
    if (!isToken(token)) return answer(c, UNKNOWN, 200)
    const rt = c.get('rt')
    const project = projectOf(c.get('actor'))
    const hash = await sha256Hex(token)
    const statements = byToken(rt.db, project, hash)
    const found = features
      ? await readFacts(c, (extent) => ({
          ...statements,
          ...factsByToken(rt.db, project, hash, { keys: features, ...extent }),
        }))
      : { ...(await read(c, statements)), who: null }
    const [device] = found.devices
    const [consumer] = found.consumers
    if (!device || !consumer) return answer(c, UNKNOWN, 200)
    const reason = reasonOf(device, consumer)
    if (reason === null) recordSeen(rt, project, device, hash)
    const { id, external_ids, state } = consumer
    const whose = { id, external_id: external_ids[0] ?? null, external_ids, state }
    // Nothing is allowed to a device that is not valid, whatever its consumer has.
    const checked = reason === null && features && found.who !== null ? checkedIn(found, features) : null
    const verified = {
      valid: reason === null,
      reason,
      device: presentDevice(device),
      consumer: whose,
      features: checked,
    }
    return answer(c, verified, 200)
  },
)

/** What the consumer whose facts were read may do with features. */
function checkedIn(found: Parameters<typeof factsIn>[0], features: readonly string[]) {
  const { now, catalog, holders } = factsIn(found, 1)
  const [holder] = holders
  return holder ? presentAsked(features, holder, catalog, now) : null
}
