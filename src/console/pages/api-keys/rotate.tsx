import { RotateBody, rotateKey } from '../../../api-keys/rotate'
import { newSecret } from '../../../api-keys/secret'
import { secretsSeen } from '../../../api-keys/secrets'
import { changeOf } from '../../../http/auth'
import { requireConfirmedFor, requireScopes } from '../../../http/policy'
import { invalid } from '../../../http/validate'
import { Fault } from '../../../lib/fault'
import { MAX_GRACE_S, NEW_SECRET_WAITS } from '../../../lib/rotation'
import { DAY, HOUR, MINUTE, SECOND } from '../../../lib/time'
import { action, leadTo } from '../../action'
import { userOf } from '../../session'
import { Field, Select } from '../../ui/controls'
import { About, asked } from './about'
import { HandedKeys, readHanded } from './handed'
import { addressedKey, keyPath, readKey } from './key'
import { secretPage } from './secret'
import { readUse } from './use'

export const rotate = action({
  at: '/:id/rotate',
  needs: 'api_keys:write',
  counted: { ends: true },
  read: async (c) => {
    const row = await readKey(c)
    // The rotation itself requires both too.
    requireScopes(userOf(c), row.scopes)
    requireConfirmedFor(userOf(c), row.scopes)
    const [use, handed] = await Promise.all([readUse(c, addressedKey(c)), readHanded(c, addressedKey(c))])
    return { row, use, handed }
  },
  ask: (c, { row, use, handed }) => ({
    ...asked(c, row, 'Rotate'),
    says: (
      <About
        c={c}
        row={row}
        use={use}
        what="The key gets a new secret. Its name, its scopes and its expiry stay the same."
      />
    ),
    choice: (
      <>
        {/* Names the secrets that are there, so that the form rotates the key once. */}
        <input type="hidden" name="known" value={secretsSeen(row)} autocomplete="off" />
        <When who="your servers use" />
        {handed.rows.length > 0 && (
          <>
            <HandedKeys c={c} of={handed} />
            <p>A rotation of this key does not change {handed.rows.length === 1 ? 'it' : 'them'}.</p>
          </>
        )}
        {row.pending !== null && (
          <p class="hint">A rotation has already begun. Its new secret ends, whichever you choose.</p>
        )}
      </>
    ),
  }),
  run: async (c) => {
    const { db, store } = c.get('rt')
    const form = c.get('form')
    const how = rotationIn(form)
    const secret = await newSecret(store)
    const known = form.get('known') ?? undefined
    try {
      const row = await rotateKey(db, { ...addressedKey(c), actor: userOf(c), how, known }, secret, changeOf(c))
      return await secretPage(c, row, secret.secret, { what: 'rotated', waits: how.when === 'first_use' })
    } catch (error) {
      // The form was sent again, or somebody else was first.
      if (!(error instanceof Fault) || error.fault !== 'rotation_conflict') throw error
      return leadTo(c, keyPath(c, addressedKey(c).id), 'key_rotated_before')
    }
  },
  done: (_, response) => response,
})

/** How a form asks to rotate something. @throws {Fault} `validation_failed` */
export function rotationIn(form: URLSearchParams) {
  const grace = form.get('grace_s')
  const read = RotateBody.safeParse({
    when: form.get('when') ?? undefined,
    grace_s: grace === null ? undefined : Number(grace),
  })
  if (!read.success) throw invalid(read.error.issues)
  return read.data
}

const GRACES = [
  ['0', 'not at all'],
  [String((5 * MINUTE) / SECOND), '5 minutes'],
  [String(HOUR / SECOND), '1 hour'],
  [String(MAX_GRACE_S), '24 hours'],
] as const

/** When the new secret takes the place of the old one. @param who continues “When …” */
export function When({ who }: { who: string }) {
  return (
    <>
      <fieldset>
        <legend>When does the new secret replace the old one?</legend>
        <Choice
          value="first_use"
          checked
          label={`When ${who} it`}
          hint={`The old secret works until a request uses the new one. If that does not happen within ${NEW_SECRET_WAITS / DAY} days, the new secret ends.`}
        />
        <Choice
          value="now"
          label="Now"
          hint="For a secret that may have leaked. Requests that still use the old secret fail with status 401."
        />
      </fieldset>
      <Field name="grace_s" label="After that, the old secret still works">
        <Select name="grace_s" value="0" options={GRACES} />
      </Field>
      <p class="hint">If several servers use the key, choose enough time for all of them to get the new secret.</p>
    </>
  )
}

function Choice({ value, label, hint, checked }: { value: string; label: string; hint: string; checked?: boolean }) {
  return (
    <label class="option">
      <input type="radio" name="when" value={value} checked={checked} autocomplete="off" />
      <span>
        <strong>{label}</strong> <span class="quiet">{hint}</span>
      </span>
    </label>
  )
}
