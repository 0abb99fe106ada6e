import { vendorOf } from '../../../vendors'
import type { Mistakes } from '../../form'
import { Field } from '../../ui/controls'
import { sentence } from '../../ui/format'

/** The field for a signing secret, with a hint for each of these vendors. A script shows the selected vendor's hint only. */
export function SecretField({ mistakes, vendors }: { mistakes: Mistakes; vendors: readonly string[] }) {
  return (
    <Field
      name="signing_secret"
      label="Signing secret"
      type="password"
      required
      maxlength={4096}
      mistakes={mistakes}
      hint={
        <>
          {vendors.map((name) => (
            <span data-vendor={name}>{secretHint(name)}</span>
          ))}
          <span>The secret is stored encrypted and never shown again.</span>
        </>
      }
    />
  )
}

/** Describes the vendor's signing secrets: the message that an invalid one gets. */
function secretHint(name: string): string {
  return sentence(vendorOf(name)?.checkSecret('') ?? '')
}
