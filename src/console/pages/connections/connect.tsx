import type { Context } from 'hono'
import type { PropsWithChildren } from 'hono/jsx'
import type { HttpEnv } from '../../../http/context'
import { MAX_NAME } from '../../../inbox/connections/limits'
import { pathsOf } from '../../page'
import { type Mistakes, UNSENT } from '../../refusal'
import { Field, Post, Wrong } from '../../ui/controls'
import { show } from '../../ui/layout'
import { Head } from '../../ui/parts'
import { vendorTitle } from '../../ui/vendor-titles'
import { guideOf } from './guides'

/** The values entered in the form for a new connection. `livemode`: `true`, `false`, or empty for no choice. */
export type Entered = { vendor: string; name: string; livemode: string }

/** The form for a new connection to a vendor. The secret comes later, because most vendors need the ingest URL first. */
export function connectPage(c: Context<HttpEnv>, entered: Entered, { mistakes, status } = UNSENT) {
  const { connections } = pathsOf(c)
  const title = vendorTitle(entered.vendor)
  return show(
    c,
    { title: `Connect ${title}`, section: 'connections', status, above: ['All vendors', `${connections}/new`] },
    <>
      <Head title={`Connect ${title}`} />
      <p class="quiet">{next(entered.vendor, title)}</p>
      <Post c={c} to={connections} class="form">
        <Wrong>{mistakes.form ?? mistakes.vendor}</Wrong>
        <input type="hidden" name="vendor" value={entered.vendor} />
        <ModeField title={title} value={entered.livemode} mistakes={mistakes} />
        <Field
          name="name"
          label="Name"
          value={entered.name}
          required
          maxlength={MAX_NAME}
          mistakes={mistakes}
          hint="Tells your connections apart. You can change it later."
        />
        <button type="submit" class="primary">
          Create connection
        </button>
      </Post>
    </>,
  )
}

/** What comes after this form. */
function next(vendor: string, title: string): string {
  return guideOf(vendor)?.secret === 'vendor'
    ? `The next page has the URL to enter at ${title}. ${title} then shows a signing secret, which you enter here.`
    : `The next page has the URL to enter at ${title}, and says which secret its deliveries are verified with.`
}

type ModeProps = PropsWithChildren<{ title: string; value: string; mistakes: Mistakes }>

/** Asks which of the vendor's accounts sends the events. */
export function ModeField({ title, value, mistakes, children }: ModeProps) {
  const wrong = mistakes.livemode
  return (
    <fieldset aria-describedby={wrong ? 'livemode-wrong' : undefined}>
      <legend>Which {title} account sends the events?</legend>
      <Choice value="false" of={value} label="Test" hint="A test mode or sandbox account. No real money moves." />
      <Choice value="true" of={value} label="Live" hint="The account with real customers and payments." />
      {children}
      {wrong && <Wrong id="livemode-wrong">Choose test or live.</Wrong>}
    </fieldset>
  )
}

function Choice({ value, of, label, hint }: { value: string; of: string; label: string; hint: string }) {
  return (
    <label class="option">
      <input type="radio" name="livemode" value={value} checked={value === of} required />
      <span>
        <strong>{label}</strong> <span class="quiet">{hint}</span>
      </span>
    </label>
  )
}
