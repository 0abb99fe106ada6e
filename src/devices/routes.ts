import { Hono } from 'hono'
import * as z from 'zod'
import { listDevices } from '../consumers/devices'
import { refOf, refToChange } from '../consumers/ref'
import { findConsumer, requireConsumer } from '../consumers/store'
import { answer } from '../http/answer'
import { changeOf, projectOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { listOf, pageFields, paging } from '../http/page'
import { read } from '../http/read'
import { route } from '../http/route'
import { body, query } from '../http/validate'
import { MINUTE } from '../lib/time'
import { Device, present, RegisterBody, RegisteredDevice, StateName } from './fields'
import { installationIn } from './installation'
import { LAST_SEEN_EVERY, MAX_REPLACED } from './limits'
import { registerDevice } from './register-store'
import { revokeDevice } from './revoke-store'
import { newToken } from './token'

const tag = 'Devices'
const actors = ['session', 'api_key'] as const
const mayRead = { actors, scope: 'consumers:read', project: true, reads: true } as const
const mayWrite = { actors, scope: 'consumers:write', project: true } as const
const ListQuery = z.strictObject({ ...pageFields, state: StateName.optional() })

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
      responses: { 200: { description: 'A page of devices.', schema: listOf(Device) } },
      faults: ['not_found', 'consumer_merged'],
    }),
    query(ListQuery),
    async (c) => {
      const sent = c.req.valid('query')
      const name = c.req.param('consumer')
      const ref = refOf(name) ?? { id: name } // a name that is neither is read like an unknown id
      const { db } = c.get('rt')
      const project = projectOf(c.get('actor'))
      const { before, take, page } = paging(`devices ${name}`, sent)
      const found = await read(c, {
        consumer: findConsumer(db, project, ref),
        rows: listDevices(db, project, ref, { state: sent.state, before, take }),
      })
      requireConsumer(found.consumer)
      return answer(c, page(found.rows, present), 200)
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
    body(RegisterBody),
    async (c) => {
      const { new_token, when_full, ...fields } = c.req.valid('json')
      const of = {
        project_id: projectOf(c.get('actor')),
        ref: refToChange(c.req.param('consumer')),
        installation_id: installationIn(c.req.param('device')),
      }
      const how = { replace: when_full === 'replace_oldest', renew: new_token, token: await newToken() }
      const { device, token, created } = await registerDevice(c.get('rt').db, of, fields, how, changeOf(c))
      return answer(c, { device: present(device), token }, created ? 201 : 200)
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
      policy: mayWrite,
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
