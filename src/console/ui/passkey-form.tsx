import type { PropsWithChildren } from 'hono/jsx'
import type { Visit } from '../page'

type PasskeyFormProps = PropsWithChildren<{
  c: Visit
  /** Whether the browser makes a passkey or uses one. */
  does: 'create' | 'get'
  to: string
  /** Where the script gets the options for the browser. */
  options: string
  label: string
  next: string
  primary?: boolean
}>

/** A form that a passkey answers. It needs the script of passkeys, which shows it: see `passkeys` of the layout. */
export function PasskeyForm({ c, does, to, options, label, next, primary, children }: PasskeyFormProps) {
  const token = c.get('formToken')
  return (
    <form method="post" action={to} data-passkey={does} data-options={options} hidden>
      {token && <input type="hidden" name="form_token" value={token} />}
      <input type="hidden" name="next" value={next} />
      <input type="hidden" name="credential" value="" autocomplete="off" />
      {children}
      <button type="submit" class={primary ? 'primary wide' : 'wide'}>
        {label}
      </button>
      <p class="wrong" role="alert" data-said hidden />
    </form>
  )
}

/** Says why there is no form of a passkey, where there is none. The script hides it. */
export function NoPasskeys() {
  return (
    <p class="quiet" data-no-passkey>
      Passkeys need JavaScript, and a browser that supports them.
    </p>
  )
}
