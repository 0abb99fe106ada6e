import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { MAX_KEY } from '../../../lib/catalog-key'
import { MAX_CONSUMER_KEYS, MAX_DEVICES } from '../../../tenancy/limits'
import type { Settings } from '../../../tenancy/settings'
import { can, pathsOf } from '../../page'
import type { Mistakes } from '../../refusal'
import { Field, Post, Wrong } from '../../ui/controls'
import { Fact } from '../../ui/parts'

/** What the form of the settings of consumers was filled in with. */
export type Entered = { link_hints: boolean; consumer_keys: string; max_devices: string; devices_feature: string }

/** The form as it is opened. */
export function enteredFrom({ link_hints, consumer_keys, max_devices, devices_feature }: Settings): Entered {
  return {
    link_hints,
    consumer_keys: consumer_keys.join(', '),
    max_devices: String(max_devices),
    devices_feature: devices_feature ?? '',
  }
}

export function enteredIn(form: URLSearchParams): Entered {
  const text = (name: string) => (form.get(name) ?? '').trim()
  return {
    link_hints: form.get('link_hints') === 'true',
    consumer_keys: text('consumer_keys'),
    max_devices: text('max_devices'),
    devices_feature: text('devices_feature'),
  }
}

/** What a form sets, as the API takes it. */
export function settingsIn({ link_hints, consumer_keys, max_devices, devices_feature }: Entered) {
  const keys = consumer_keys.split(',').map((key) => key.trim())
  return {
    link_hints,
    consumer_keys: keys.filter((key) => key !== ''),
    max_devices: Number(max_devices || Number.NaN),
    devices_feature: devices_feature || null,
  }
}

type Props = { c: Context<HttpEnv>; entered: Entered; mistakes: Mistakes }

/** How events find the consumers of customers, and how many devices a consumer can have. */
export function ConsumerSettings({ c, entered, mistakes }: Props) {
  return (
    <section id="consumers" aria-labelledby="consumers-title">
      <h2 id="consumers-title">Consumers</h2>
      {can(c, 'projects:write') ? <Form c={c} entered={entered} mistakes={mistakes} /> : <Shown of={entered} />}
    </section>
  )
}

function Form({ c, entered: { link_hints, consumer_keys, max_devices, devices_feature }, mistakes }: Props) {
  return (
    <Post c={c} to={`${pathsOf(c).general}/consumers`} class="form">
      <Wrong>{mistakes.form}</Wrong>
      <div class="field">
        <div class="checks one">
          <label>
            <input
              type="checkbox"
              name="link_hints"
              value="true"
              checked={link_hints}
              autocomplete="off"
              aria-describedby="hints-hint"
            />{' '}
            Let checkouts, subscriptions and transactions link customers
          </label>
        </div>
        <p class="hint" id="hints-hint">
          A buyer can choose which consumer a checkout names. So the buyer can pay for what somebody else gets. A
          checkout never moves a customer that is linked. If you switch this off, only the customer’s own metadata
          counts. Your server writes it.
        </p>
      </div>
      <Field
        name="consumer_keys"
        label="Keys of metadata that hold your ID"
        value={consumer_keys}
        required
        hint={`Up to ${MAX_CONSUMER_KEYS}, separated by commas, the most important one first. Paddle calls metadata custom data. A change applies to events that are processed from then on; to apply it to earlier events, replay them.`}
        mistakes={mistakes}
      />
      <Field
        name="max_devices"
        label="Active devices of each consumer"
        type="number"
        value={max_devices}
        required
        hint={`From 1 to ${MAX_DEVICES.toLocaleString('en')}. A lower limit revokes no device, but a consumer that is over it cannot register another one.`}
        mistakes={mistakes}
      />
      <Field
        name="devices_feature"
        label="Feature that sets the device limit (optional)"
        value={devices_feature}
        maxlength={MAX_KEY}
        hint="The key of a quantity feature. Each consumer can then have as many active devices as its plans and grants give it of the feature, and the number above is ignored, unless a consumer has too much to look at. A consumer without the feature can have none."
        mistakes={mistakes}
      />
      <button type="submit">Save</button>
    </Post>
  )
}

function Shown({ of: { link_hints, consumer_keys, max_devices, devices_feature } }: { of: Entered }) {
  return (
    <dl class="facts">
      <Fact name="Customers are linked by">
        {link_hints ? 'Their own metadata, checkouts, subscriptions and transactions' : 'Their own metadata only'}
      </Fact>
      <Fact name="Keys of metadata that hold your ID">{consumer_keys}</Fact>
      <Fact name="Active devices of each consumer">
        {devices_feature === '' ? (
          `up to ${max_devices}`
        ) : (
          <>
            as the feature <code>{devices_feature}</code> says
          </>
        )}
      </Fact>
    </dl>
  )
}
