import { UpdateDeviceBody } from '../../../devices/fields'
import { MAX_DEVICE_SCOPE, MAX_DEVICE_SCOPES, MAX_DEVICE_TEXT } from '../../../devices/limits'
import { rotateDevice, tokensSeen } from '../../../devices/rotate'
import { newDeviceToken } from '../../../devices/token'
import { updateDevice } from '../../../devices/update'
import { changeOf } from '../../../http/auth'
import { Fault } from '../../../lib/fault'
import { action, leadTo } from '../../action'
import { form, list, text } from '../../form'
import { pathsOf, type Visit } from '../../page'
import { Post, SubmitOrCancel, Wrong } from '../../ui/controls'
import { exact } from '../../ui/format'
import { show } from '../../ui/layout'
import { Copyable, Head } from '../../ui/parts'
import { EXPIRIES, ExpiryFields, expiryOf } from '../api-keys/expiry'
import { rotationIn, When } from '../api-keys/rotate'
import { deviceName } from './keys'
import { placeOf } from './parts'
import { addressedConsumer, readDevice, readLiving } from './read'

const CHANGED = form(UpdateDeviceBody, {
  name: text('Name', { maxlength: 2 * MAX_DEVICE_TEXT, empty: null }),
  scopes: list('Scopes', ' ', {
    hint: `Up to ${MAX_DEVICE_SCOPES} words of your own with up to ${MAX_DEVICE_SCOPE} characters, with spaces between them, such as reports:read`,
  }),
})

const read = async (c: Visit) => {
  const row = await readLiving(c)
  return { row, device: await readDevice(c, row) }
}
const addressed = (c: Visit) => ({ ...addressedConsumer(c), id: c.req.param('device') ?? '' })
const pageOf = (c: Visit) => `${pathsOf(c).consumers}/${c.req.param('consumer')}`

const edit = action({
  at: '/:consumer/devices/:device/edit',
  needs: 'consumers:write',
  read,
  ask: (c, { row, device }, { mistakes, status, ...sent }) => {
    const { path, view } = placeOf(c, row)
    const opened = CHANGED.opened({ name: device.name, scopes: device.scopes ?? [] })
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
  done: (c) => [pageOf(c), 'device_changed'],
})

const rotate = action({
  at: '/:consumer/devices/:device/rotate',
  needs: 'consumers:write',
  counted: { ends: true },
  read,
  ask: (c, { row, device }) => ({
    ...placeOf(c, row).view,
    title: 'Rotate key',
    question: `Rotate ${deviceName(device)}?`,
    says: <p>The key gets a new token. Its name, its scopes and its expiry stay the same.</p>,
    choice: (
      <>
        {/* Names the tokens that are there, so that the form rotates the key once. */}
        <input type="hidden" name="known" value={tokensSeen(device)} autocomplete="off" />
        <When who="your customer uses" />
        {device.pending !== null && (
          <p class="hint">A rotation has already begun. Its new token ends, whichever you choose.</p>
        )}
      </>
    ),
    verb: 'Rotate key',
  }),
  run: async (c) => {
    const sent = c.get('form')
    const known = sent.get('known') ?? undefined
    const made = await newDeviceToken()
    try {
      const how = rotationIn(sent)
      const device = await rotateDevice(c.get('rt').db, { ...addressed(c), how, known }, made, changeOf(c))
      return tokenPage(c, deviceName(device), made.token)
    } catch (error) {
      // The form was sent again, or somebody else was first.
      if (!(error instanceof Fault) || error.fault !== 'rotation_conflict') throw error
      return leadTo(c, pageOf(c), 'device_rotated_before')
    }
  },
  done: (_, response) => response,
})

/** The only page that shows a token, in response to the form that made it. */
function tokenPage(c: Visit, name: string, token: string) {
  return show(
    c,
    { title: 'Key rotated', section: 'consumers', above: ['Consumer', pageOf(c)] },
    <div data-unsaved>
      <Head title="Key rotated" />
      <p class="warning" role="note">
        <strong>Copy the token now. You will not be able to see it again.</strong> We store only a hash of it.
      </p>
      <h2>{name}</h2>
      <Copyable id="secret" label="token">
        {token}
      </Copyable>
      <p>
        <a class="button primary" href={pageOf(c)} data-saved>
          I have stored the token
        </a>
      </p>
    </div>,
  )
}

/** Changes and rotates the keys of a consumer. */
export const keyPages = [edit, rotate]
