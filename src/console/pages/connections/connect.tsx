import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { UNSENT } from '../../form'
import { pathsOf } from '../../page'
import { Field, Post, Select, Wrong } from '../../ui/controls'
import { show } from '../../ui/layout'
import { Head } from '../../ui/parts'
import { VENDOR_OPTIONS } from '../../ui/vendor-titles'
import { SecretField } from './secret-field'

/** The form for a new connection. It never sends back the secret that was entered. */
export function connectPage(
  c: Context<HttpEnv>,
  entered: { vendor: string; name: string; livemode: string },
  { mistakes, status } = UNSENT,
) {
  const { connections } = pathsOf(c)
  return show(
    c,
    { title: 'Connect a vendor', section: 'connections', status, above: ['Connections', connections] },
    <>
      <Head title="Connect a vendor" />
      <Post c={c} to={connections} class="form">
        <Wrong>{mistakes.form}</Wrong>
        <div class="pair">
          <Field name="vendor" label="Vendor" mistakes={mistakes}>
            <Select name="vendor" value={entered.vendor} options={VENDOR_OPTIONS} />
          </Field>
          <Field name="livemode" label="Mode" mistakes={mistakes}>
            <Select
              name="livemode"
              value={entered.livemode}
              required
              options={[
                ['', 'Choose'],
                ['false', 'Test'],
                ['true', 'Live'],
              ]}
            />
          </Field>
        </div>
        <Field
          name="name"
          label="Name"
          value={entered.name}
          required
          maxlength={100}
          mistakes={mistakes}
          hint="A label, for example “Stripe, test mode”."
        />
        <SecretField mistakes={mistakes} vendors={VENDOR_OPTIONS.map(([name]) => name)} />
        <button type="submit" class="primary">
          Connect
        </button>
      </Post>
    </>,
  )
}
