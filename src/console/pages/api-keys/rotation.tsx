import { RotateBody } from '../../../api-keys/rotate'
import { invalid } from '../../../http/validate'
import { Fault } from '../../../lib/fault'
import { MAX_GRACE_S, NEW_SECRET_WAITS } from '../../../lib/rotation'
import { DAY, HOUR, MINUTE, SECOND } from '../../../lib/time'
import { Field, Select } from '../../ui/controls'

/* What the forms that rotate an API key, and the key of a consumer, have in common. */

/** The field that names the secrets that a form has shown. */
const SEEN = 'known'

/** How a form asks to rotate something, and which secrets it has shown. @throws {Fault} `validation_failed` */
export function rotationIn(form: URLSearchParams) {
  const grace = form.get('grace_s')
  const read = RotateBody.safeParse({
    when: form.get('when') ?? undefined,
    grace_s: grace === null ? undefined : Number(grace),
  })
  if (!read.success) throw invalid(read.error.issues)
  return { how: read.data, known: form.get(SEEN) ?? undefined }
}

/**
 * Rotates something for a form.
 *
 * @param before answers if the form was sent again, or somebody else was first
 */
export async function rotateOnce(before: () => Response, rotate: () => Promise<Response>): Promise<Response> {
  try {
    return await rotate()
  } catch (error) {
    if (error instanceof Fault && error.fault === 'rotation_conflict') return before()
    throw error
  }
}

const GRACES = [
  ['0', 'No grace period'],
  [String((5 * MINUTE) / SECOND), '5 minutes'],
  [String(HOUR / SECOND), '1 hour'],
  [String(MAX_GRACE_S), '24 hours'],
] as const

type FieldsProps = { what: 'secret' | 'token'; who: string; seen: string; pending: object | null }

/**
 * The fields of a form that rotates something: when the new secret takes the place of the old one.
 *
 * @param props.who continues “When …”
 * @param props.seen names the secrets that are there, so that the form rotates once
 */
export function RotationFields({ what, who, seen, pending }: FieldsProps) {
  return (
    <>
      <input type="hidden" name={SEEN} value={seen} autocomplete="off" />
      <fieldset>
        <legend>When does the new secret replace the old one?</legend>
        <Choice
          value="first_use"
          checked
          label={`When ${who} it`}
          hint={`The old secret works until a request uses the new one. If the new one is not used within ${NEW_SECRET_WAITS / DAY} days, it expires.`}
        />
        <Choice
          value="now"
          label="Now"
          hint="For a secret that may have leaked. Requests that still use the old secret fail with status 401."
        />
      </fieldset>
      <Field name="grace_s" label="Keep the old secret working for">
        <Select name="grace_s" value="0" options={GRACES} />
      </Field>
      <p class="hint">
        The time starts when the new secret replaces the old one. If several servers use the key, choose enough time to
        update them all.
      </p>
      {pending !== null && (
        <p class="hint">
          Another rotation is still waiting for its new {what} to be used. That {what} will stop working, whichever you
          choose.
        </p>
      )}
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
