import { MAX_SECRET_LENGTH } from '../../../inbox/connections/limits'
import { vendorOf } from '../../../vendors'
import type { Mistakes } from '../../refusal'
import { Field } from '../../ui/controls'
import { sentence } from '../../ui/format'

/** The field for a signing secret of a vendor. */
export function SecretField({ mistakes, vendor }: { mistakes: Mistakes; vendor: string }) {
  return (
    <Field
      name="signing_secret"
      label="Signing secret"
      type="password"
      required
      maxlength={MAX_SECRET_LENGTH}
      mistakes={mistakes}
      hint={`${sentence(vendorOf(vendor)?.checkSecret('') ?? '')} It is stored encrypted and never shown again.`}
    />
  )
}
