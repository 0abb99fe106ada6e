import { clientNamed } from '../../../lib/user-agent'
import { MAX_PASSKEY_NAME } from '../../../passkeys/limits'
import type { Visit } from '../../page'
import type { Sent } from '../../refusal'
import { userOf } from '../../session'
import { Field, Wrong } from '../../ui/controls'
import { show } from '../../ui/layout'
import { Copyable, Head } from '../../ui/parts'
import { NoPasskeys, PasskeyForm } from '../../ui/passkey-form'
import { PASSKEYS_PATH } from './list'

/** The form of a new passkey. @param next where to continue afterwards */
export function addPage(c: Visit, next: string, { mistakes, status, entered }: Sent) {
  const suggested = clientNamed(c.req.header('User-Agent') ?? null) ?? 'Passkey'
  return show(
    c,
    { title: 'Add a passkey', section: 'passkeys', above: ['Passkeys', PASSKEYS_PATH], passkeys: true, status },
    <section class="second">
      <h1>Add a passkey</h1>
      <p>
        Your browser asks where to keep the passkey: on this device, on a phone, or on a security key. It then signs you
        in as <strong>{userOf(c).email}</strong>.
      </p>
      <NoPasskeys />
      <Wrong>{mistakes.form ?? mistakes.credential}</Wrong>
      <PasskeyForm
        c={c}
        does="create"
        to={PASSKEYS_PATH}
        options={`${PASSKEYS_PATH}/options`}
        label="Add the passkey"
        next={next}
        primary
      >
        <Field
          name="name"
          label="Name"
          value={entered?.get('name') ?? suggested}
          required
          maxlength={MAX_PASSKEY_NAME}
          hint="Only you see this. Name the device, so you know which passkey to delete if you lose it."
          mistakes={mistakes}
        />
      </PasskeyForm>
    </section>,
  )
}

/**
 * The only page that shows recovery codes, in response to the form that made them. A reload sends the form again, which makes
 * no others.
 *
 * @param next where to continue
 */
export function codesPage(c: Visit, codes: readonly string[], next: string) {
  return show(
    c,
    { title: 'Recovery codes', section: 'passkeys', status: 201 },
    <div class="codes">
      <Head title="Recovery codes" />
      <p class="warning" role="note">
        <strong>Store these codes now. You will not be able to see them again.</strong> We store only hashes of them.
      </p>
      <p>
        If you lose your passkey, you can use each code once in its place. Keep the codes where you can reach them
        without your device, such as on paper or in a password manager.
      </p>
      <Copyable id="codes" label="recovery codes">
        {codes.join('\n')}
      </Copyable>
      <p>
        <a class="button primary" href={next}>
          I have stored the codes
        </a>
      </p>
    </div>,
  )
}
