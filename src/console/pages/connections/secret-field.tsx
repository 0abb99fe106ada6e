import { vendorOf } from '../../../vendors'
import type { Mistakes } from '../../form'
import { Field } from '../../ui/controls'
import { sentence } from '../../ui/format'

/** Names what each of these vendors calls its secret; where there are several, a script leaves the chosen one's. */
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
          <span>It is stored encrypted and never shown again.</span>
        </>
      }
    />
  )
}

/** What the vendor calls its signing secret and how that looks: what is said of one that is none. */
function secretHint(name: string): string {
  return sentence(vendorOf(name)?.checkSecret('') ?? '')
}
