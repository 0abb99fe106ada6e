import { MINUTE } from '../../lib/time'
import { CODE_TTL } from '../../sessions/limits'
import type { Visit } from '../page'
import { Field } from './controls'
import { plural } from './format'

/** Where the code is. @param sent begins the sentence where codes are emailed */
export function CodeSent({ c, sent, email }: { c: Visit; sent: string; email: string }) {
  const printed = c.get('rt').settings.signInDelivery === 'log'
  return (
    <p>
      {printed ? 'The server printed a code in its terminal for ' : `${sent} `}
      <strong>{email}</strong>. The code is valid for {plural(CODE_TTL / MINUTE, 'minute')}.
    </p>
  )
}

/** The field for the code. @param wrong whether the code that was entered did not work */
export function CodeField({ wrong }: { wrong: boolean }) {
  return (
    <Field
      name="code"
      label="Code"
      autocomplete="one-time-code"
      maxlength={20}
      required
      autofocus
      hint="8 letters and digits. Case, spaces and dashes do not matter."
      mistakes={wrong ? { code: 'This code is incorrect, has expired, or was already used.' } : {}}
    />
  )
}
