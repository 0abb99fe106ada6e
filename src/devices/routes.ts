import { Hono } from 'hono'
import * as z from 'zod'
import { findDevice, listDevices } from '../consumers/devices'
import { findConsumer, requireConsumer } from '../consumers/read'
import { refToChange, refToRead } from '../consumers/ref'
import { answer } from '../http/answer'
import { changeOf, projectOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { listOf, pageFields, paging } from '../http/page'
import { read } from '../http/read'
import { route } from '../http/route'
import { body, optionalBody, query } from '../http/validate'
import { malformedInPath } from '../lib/fault'
import { NEW_SECRET_WAITS } from '../lib/rotation'
import { DAY, MINUTE } from '../lib/time'
import { deviceIn } from './addressed'
import { deviceNotFound } from './faults'
import {
  DeviceShown,
  DeviceStateName,
  presentDevice,
  RegisterDeviceBody,
  RegisteredDevice,
  RotateDeviceBody,
  RotatedDevice,
  UpdateDeviceBody,
} from './fields'
import { LAST_SEEN_EVERY, MAX_INSTALLATION_ID, MAX_REPLACED } from './limits'
import { registerDevice } from './register'
import { revokeDevice } from './revoke'
import { rotateDevice } from './rotate'
import { rotateDeviceAgain } from './rotate-again'
import { storedFields } from './sent'
import { newDeviceToken } from './token'
import { updateDevice } from './update'

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
      const { db, now } = c.get('rt')
      const project = projectOf(c.get('actor'))
      const { before, take, page } = paging(`devices ${name}`, sent)
      const found = await read(c, {
        consumer: findConsumer(db, project, ref),
        rows: listDevices(db, project, ref, { state: sent.state, before, take }),
      })
      requireConsumer(found.consumer)
      return answer(
        c,
        page(found.rows, (row) => presentDevice(row, now)),
        200,
      )
    },
  )
  .get(
    '/:consumer/devices/:device',
    route({
      id: 'getDevice',
      summary: 'Get a device of a consumer',
      description: 'By its id. A revoked device too.',
      tag,
      policy: mayRead,
      responses: { 200: { description: 'The device.', schema: DeviceShown } },
      faults: ['not_found', 'consumer_merged'],
    }),
    async (c) => {
      const ref = refToRead(c.req.param('consumer'))
      const { db, now } = c.get('rt')
      const project = projectOf(c.get('actor'))
      const { consumer, device } = await read(c, {
        consumer: findConsumer(db, project, ref),
        device: findDevice(db, project, ref, c.req.param('device')),
      })
      requireConsumer(consumer)
      if (!device[0]) throw deviceNotFound()
      return answer(c, presentDevice(device[0], now), 200)
    },
  )
  .put(
    '/:consumer/devices/:device',
    route({
      id: 'registerDevice',
      summary: 'Register a device of a consumer, or change it',
      description: `The path names the device by the app's own id of the installation. A new device gets a token, which is shown once. Fields that you leave out stay as they are. You can repeat the call: the same fields again write nothing, except \`last_seen_at\` every ${LAST_SEEN_EVERY / MINUTE} minutes. With \`replace_oldest\`, at most ${MAX_REPLACED} devices are revoked. Devices that have expired are revoked for a new one in any case.`,
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
      const { new_token: renew, when_full, platform, ...described } = c.req.valid('json')
      const { db, now } = c.get('rt')
      const fields = { platform, ...storedFields(described, now) }
      const of = {
        project_id: projectOf(c.get('actor')),
        ref: refToChange(c.req.param('consumer')),
        installation_id: installationIn(c.req.param('device')),
      }
      const how = { fields, replace: when_full === 'replace_oldest', renew, token: await newDeviceToken() }
      const { device, token, created } = await registerDevice(db, of, how, changeOf(c))
      return answer(c, { device: presentDevice(device, now), token }, created ? 201 : 200)
    },
  )
  .patch(
    '/:consumer/devices/:device',
    route({
      id: 'updateDevice',
      summary: 'Change a device of a consumer',
      description: 'By its id. Its token stays the same. Fields that you leave out stay as they are.',
      tag,
      policy: mayWrite,
      responses: { 200: { description: 'The device.', schema: DeviceShown } },
      faults: ['not_found', 'consumer_merged', 'consumer_erased', 'device_revoked'],
    }),
    body(UpdateDeviceBody),
    async (c) => {
      const { db, now } = c.get('rt')
      const row = await updateDevice(db, deviceIn(c), c.req.valid('json'), changeOf(c))
      return answer(c, presentDevice(row, now), 200)
    },
  )
  .post(
    '/:consumer/devices/:device/rotate',
    route({
      id: 'rotateDevice',
      summary: 'Rotate the token of a device',
      description: `By its id. Returns a new token, which is shown only here. Without a body, the old token is not valid from then on. With \`when: first_use\`, it is valid until the new one is verified, and for \`grace_s\` seconds more. A new token that is not verified within ${NEW_SECRET_WAITS / DAY} days ends. Another rotation ends a token that waits for its first use.`,
      tag,
      policy: { ...mayWrite, ends: true },
      responses: { 200: { description: 'The device and its new token.', schema: RotatedDevice } },
      faults: [
        'not_found',
        'consumer_merged',
        'consumer_erased',
        'consumer_blocked',
        'device_revoked',
        'device_expired',
        'rotation_conflict',
        'secret_not_replayable',
      ],
      repeated: async (c, kept) => {
        const { device, token } = await rotateDeviceAgain(c.get('rt').db, deviceIn(c), kept, changeOf(c))
        return answer(c, { device: presentDevice(device, c.get('rt').now), token }, 200)
      },
    }),
    optionalBody(RotateDeviceBody.prefault({})),
    async (c) => {
      const { db, now } = c.get('rt')
      const made = await newDeviceToken()
      const device = await rotateDevice(db, { ...deviceIn(c), how: c.req.valid('json') }, made, changeOf(c))
      return answer(c, { device: presentDevice(device, now), token: made.token }, 200)
    },
  )
  .delete(
    '/:consumer/devices/:device',
    route({
      id: 'revokeDevice',
      summary: 'Revoke a device of a consumer',
      description:
        'By its id. None of its tokens is valid from then on, and its installation cannot be registered again. Repeating the call changes nothing.',
      tag,
      policy: { ...mayWrite, ends: true },
      responses: { 204: { description: 'Revoked.' } },
      faults: ['not_found', 'consumer_merged'],
    }),
    async (c) => {
      await revokeDevice(c.get('rt').db, deviceIn(c), changeOf(c))
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
