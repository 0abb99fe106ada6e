import { endToken } from '../../../devices/end-token'
import { UpdateDeviceBody } from '../../../devices/fields'
import {
  MAX_DEVICE_METADATA_BYTES,
  MAX_DEVICE_SCOPE,
  MAX_DEVICE_SCOPES,
  MAX_DEVICE_TEXT,
} from '../../../devices/limits'
import { rotateDevice, tokensSeen } from '../../../devices/rotate'
import { newDeviceToken } from '../../../devices/token'
import { updateDevice } from '../../../devices/update'
import { changeOf } from '../../../http/auth'
import { action, leadTo } from '../../action'
import { form, list, text } from '../../form'
import type { Visit } from '../../page'
import { Post, SubmitOrCancel, Wrong } from '../../ui/controls'
import { exact } from '../../ui/format'
import { show } from '../../ui/layout'
import { Head, ShownOnce } from '../../ui/parts'
import { EXPIRIES, ExpiryFields, expiryOf } from '../api-keys/expiry'
import { RotationFields, rotateOnce, rotationIn } from '../api-keys/rotation'
import { deviceName } from './keys'
import { METADATA, MetadataFields, withMetadata } from './metadata'
import { devicesTab, placeOfConsumer } from './parts'
import { addressedConsumer, readDevice, readLiving } from './read'

const CHANGED = form(UpdateDeviceBody, {
  name: text('Name', { maxlength: 2 * MAX_DEVICE_TEXT, empty: null }),
  scopes: list('Scopes', ' ', {
    hint: `Scope names of your own, separated by spaces, such as reports:read. Up to ${MAX_DEVICE_SCOPES} scopes of up to ${MAX_DEVICE_SCOPE} characters.`,
  }),
  metadata: METADATA,
})

const read = async (c: Visit) => {
  const row = await readLiving(c)
  return { row, device: await readDevice(c, row) }
}
const addressed = (c: Visit) => ({ ...addressedConsumer(c), id: c.req.param('device') ?? '' })

const edit = action({
  at: '/:consumer/devices/:device/edit',
  needs: 'consumers:write',
  read,
  ask: (c, { row, device }, { mistakes, status, ...sent }) => {
    const { path, view } = placeOfConsumer(c, row)
    const opened = withMetadata(
      CHANGED.opened({ name: device.name, scopes: device.scopes ?? [] }),
      device.metadata ?? {},
    )
    opened.set('expires', 'keep')
    const entered = sent.entered ?? opened
    const end = device.expires_at === null ? 'never expires' : `expires at ${exact(device.expires_at)}`
    return show(
      c,
      { ...view, title: 'Edit key', status },
      <>
        <Head title="Edit key" />
        <p>
          <code>{device.token_prefix ?? device.installation_id}</code>
        </p>
        <Post c={c} to={`${path}/devices/${device.id}/edit`} class="form">
          <Wrong>{mistakes.form}</Wrong>
          {CHANGED.field('name', { mistakes, entered })}
          {CHANGED.field('scopes', { mistakes, entered })}
          <MetadataFields
            {...{ mistakes, entered }}
            limit={`at most ${MAX_DEVICE_METADATA_BYTES} bytes as JSON`}
            maxlength={MAX_DEVICE_METADATA_BYTES}
          />
          <ExpiryFields
            options={[['keep', 'No change'], ...EXPIRIES]}
            entered={entered}
            hint={`It ${end}.`}
            mistake={mistakes.expires_at}
          />
          <SubmitOrCancel label="Save" back={path} />
        </Post>
      </>,
    )
  },
  run: (c) => {
    const { db, now } = c.get('rt')
    const sent = c.get('form')
    const isKept = sent.get('expires') === 'keep' && (sent.get('on') ?? '') === ''
    const changes = CHANGED.body(sent, isKept ? {} : { expires_at: expiryOf(sent, now) })
    return updateDevice(db, addressed(c), changes, changeOf(c))
  },
  done: (c) => [devicesTab(c), 'device_changed'],
})

const rotate = action({
  at: '/:consumer/devices/:device/rotate',
  needs: 'consumers:write',
  counted: { ends: true },
  read,
  ask: (c, { row, device }) => ({
    ...placeOfConsumer(c, row).view,
    title: 'Rotate key',
    question: `Rotate ${deviceName(device)}?`,
    says: <p>The key gets a new token. Its name, its scopes and its expiry stay the same.</p>,
    choice: <RotationFields what="token" who="your customer uses" seen={tokensSeen(device)} pending={device.pending} />,
    verb: 'Rotate key',
  }),
  run: async (c) => {
    const rotation = rotationIn(c.get('form'))
    const made = await newDeviceToken()
    const conflict = () => leadTo(c, devicesTab(c), 'device_rotated_before')
    return rotateOnce(conflict, async () => {
      const device = await rotateDevice(c.get('rt').db, { ...addressed(c), ...rotation }, made, changeOf(c))
      return tokenPage(c, deviceName(device), made.token)
    })
  },
  done: (_, response) => response,
})

/** Ends one of the other tokens of a key. @param says what that means */
function end(which: 'pending' | 'previous', name: 'new' | 'old', says: string) {
  return action({
    at: `/:consumer/devices/:device/end-${which}`,
    needs: 'consumers:write',
    counted: { ends: true },
    read,
    ask: (c, { row, device }) => ({
      ...placeOfConsumer(c, row).view,
      title: `End the ${name} token`,
      question: `End the ${name} token of ${deviceName(device)}?`,
      says: <p>{says}</p>,
      verb: `End ${name} token`,
      danger: true,
    }),
    run: (c) => endToken(c.get('rt').db, { ...addressed(c), which }, changeOf(c)),
    done: (c) => [devicesTab(c), `${which}_token_ended`],
  })
}
const endPending = end('pending', 'new', 'The new token will never be valid. The current token does not change.')
const endPrevious = end(
  'previous',
  'old',
  'The old token stops working immediately, wherever it is still used. The current token does not change.',
)

/** The only page that shows a token, in response to the form that made it. */
function tokenPage(c: Visit, name: string, token: string) {
  return show(
    c,
    { title: 'Key rotated', section: 'consumers', above: ['Consumer', devicesTab(c)] },
    <div data-unsaved>
      <Head title="Key rotated" />
      <ShownOnce what="token" of={<h2>{name}</h2>} kept="We store only a hash of it.">
        {token}
      </ShownOnce>
      <p>
        <a class="button primary" href={devicesTab(c)} data-saved>
          I have stored the token
        </a>
      </p>
    </div>,
  )
}

/** Changes and rotates the keys of a consumer, and ends their other tokens. */
export const keyPages = [edit, rotate, endPending, endPrevious]
