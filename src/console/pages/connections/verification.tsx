import type { ConnectionRow } from '../../../inbox/connections/connection'
import type { Trial } from '../../../inbox/connections/try-verification'
import { presetOf } from '../../../vendors/presets'
import { ALGORITHMS, ENCODINGS, PRESET_NAMES, type PresetName, type Verification } from '../../../vendors/verification'
import { VerificationBody } from '../../../vendors/verification-fields'
import { choice, form, number, own, text, tick } from '../../form'
import { can, type Visit } from '../../page'
import type { Sent } from '../../refusal'
import { Field, Post, Select, Wrong } from '../../ui/controls'
import { capital } from '../../ui/format'
import { show } from '../../ui/layout'
import { Fact, Head } from '../../ui/parts'
import { connectionPath } from './describe'
import { TryDelivery } from './trial'

const optional = (value: string) => value || undefined
const TITLES: Partial<Record<PresetName, string>> = { github: 'GitHub', line: 'LINE', workos: 'WorkOS' }
const presetTitle = (name: PresetName) => TITLES[name] ?? name.split('-').map(capital).join(' ')
const same = (values: readonly string[]) => values.map((value) => [value, value] as const)

export const VERIFICATION = form(VerificationBody, {
  preset: own(optional),
  algorithm: choice('Algorithm', same(ALGORITHMS), { required: true }),
  confirm: {
    ...tick('Use SHA-1 anyway', { hint: 'SHA-1 is weak. Use it only if the sender does not offer SHA-256.' }),
    read: (sent) => (sent === 'true' ? true : undefined),
  },
  header: text('Signature header', { required: true, maxlength: 100 }),
  encoding: choice('Encoding', same(ENCODINGS), { required: true }),
  prefix: text('Prefix', { maxlength: 40, hint: 'The text before the signature, such as sha256=.' }),
  pairs: own((_, sent) => {
    const signature = optional((sent.get('pairs_signature') ?? '').trim())
    const time = optional((sent.get('pairs_time') ?? '').trim())
    return signature || time ? { signature, time } : undefined
  }),
  time_header: text('Timestamp header', { maxlength: 100, hint: 'Only if the timestamp has its own header.' }),
  unit: choice('Timestamp unit', [
    ['s', 'Seconds'],
    ['ms', 'Milliseconds'],
  ]),
  tolerance_s: number('Tolerance, in seconds', {
    required: true,
    hint: 'How far the signed timestamp may be from the current time.',
  }),
  signed: text('Template', { required: true, maxlength: 500 }),
  id: text('Event ID', { hint: 'A path in the body, such as data.id, or header: followed by a header name.' }),
  type: text('Event type'),
  time: text('Event time'),
  livemode: text('Live or test', { hint: 'Where the event says true (live) or false (test).' }),
})

/** The form as it is opened for a verification. */
function opened(verification: Verification): URLSearchParams {
  const { pairs, ...stored } = verification
  const fields = VERIFICATION.opened(stored)
  if (pairs) {
    fields.set('pairs_signature', pairs.signature)
    fields.set('pairs_time', pairs.time ?? '')
  }
  return fields
}

const EMPTY = new URLSearchParams({
  algorithm: 'sha256',
  encoding: 'hex',
  unit: 's',
  tolerance_s: '300',
  signed: '{body}',
})

/** The verification on the page of its connection. Nothing for a vendor that is known. */
export function VerificationSummary({ c, row }: { c: Visit; row: ConnectionRow }) {
  if (row.vendor !== 'hmac') return null
  const { verification } = row
  const at = `${connectionPath(c, row)}/verification`
  return (
    <>
      <h2 id="verification">Verification</h2>
      {verification ? (
        <dl class="facts">
          <Fact name="Signature">
            <code>{verification.header}</code>, HMAC {verification.algorithm}, {verification.encoding}
          </Fact>
          <Fact name="Signed">
            <code>{verification.signed}</code>
          </Fact>
          <Fact name="Replay protection">
            {verification.signed.includes('{time}')
              ? `Deliveries are refused ${verification.tolerance_s} s after they were signed`
              : 'None: the time is not signed, so anyone who captures a delivery can send it again'}
          </Fact>
        </dl>
      ) : (
        <p class="warning" role="note">
          Set how the sender signs its deliveries. Until then, the connection refuses all of them.
        </p>
      )}
      {can(c, 'connections:write') && (
        <div class="choice">
          <a class={verification ? 'button' : 'button primary'} href={at}>
            {verification ? 'Change verification' : 'Set verification'}
          </a>
          {verification && (
            <a class="button" href={`${at}#try`}>
              Try a delivery
            </a>
          )}
        </div>
      )}
    </>
  )
}

type PageProps = { row: ConnectionRow; sent: Sent; trial?: { result: Trial; form: URLSearchParams } | undefined }

/** The form that says how the sender signs, and the one that tries a delivery. */
export function verificationPage(c: Visit, { row, sent, trial }: PageProps) {
  const at = connectionPath(c, row)
  const preset = PRESET_NAMES.find((name) => name === c.req.query('preset'))
  const filled = preset ? opened(presetOf(preset)) : row.verification ? opened(row.verification) : EMPTY
  const isSent = sent.entered?.has('signed')
  const of = isSent ? sent : { ...sent, mistakes: {}, entered: filled }
  return show(
    c,
    { title: 'Verification', section: 'connections', status: sent.status, above: [row.name, at] },
    <>
      <Head title="Verification" />
      <p class="quiet">
        How the sender signs its deliveries. The sender’s documentation describes this. A change applies from the next
        delivery.
      </p>
      <form method="get" action={`${at}/verification`} class="form">
        <Field name="preset" label="Start from a known sender">
          <Select
            name="preset"
            value={preset}
            options={[['', 'None'], ...PRESET_NAMES.map((name) => [name, presetTitle(name)] as const)]}
          />
        </Field>
        <button type="submit">Fill in</button>
      </form>
      <Form c={c} at={`${at}/verification`} of={of} preset={preset ?? of.entered?.get('preset') ?? ''} />
      {row.verification && <TryDelivery c={c} row={row} sent={isSent ? undefined : sent} trial={trial} />}
    </>,
  )
}

/** @param preset the one that the form was filled from; empty for none */
function Form({ c, at, of, preset }: { c: Visit; at: string; of: Pick<Sent, 'entered' | 'mistakes'>; preset: string }) {
  const { entered, mistakes } = of
  const pair = (name: 'time' | 'signature', label: string, hint?: string) => {
    const wrong = mistakes[`pairs.${name}`]
    const field = `pairs_${name}`
    return (
      <Field
        name={field}
        label={label}
        value={entered?.get(field) ?? ''}
        maxlength={40}
        hint={hint}
        mistakes={wrong ? { [field]: wrong } : {}}
      />
    )
  }
  return (
    <Post c={c} to={at} class="form">
      <input type="hidden" name="preset" value={preset} />
      <fieldset>
        <legend>Signature</legend>
        {VERIFICATION.field('header', of)}
        {VERIFICATION.field('algorithm', of)}
        {VERIFICATION.field('confirm', of)}
        <Wrong>{mistakes.confirm}</Wrong>
        {VERIFICATION.field('encoding', of)}
        {VERIFICATION.field('prefix', of)}
        {pair('signature', 'Signature key', 'For a header of key=value pairs. In t=…,v1=…, it is v1.')}
      </fieldset>
      <fieldset>
        <legend>Timestamp</legend>
        {pair('time', 'Timestamp key', 'For a header of key=value pairs. In t=…,v1=…, it is t.')}
        {VERIFICATION.field('time_header', of)}
        {VERIFICATION.field('unit', of)}
        {VERIFICATION.field('tolerance_s', of)}
      </fieldset>
      <fieldset>
        <legend>Signed text</legend>
        {VERIFICATION.field('signed', of, {
          hint: (
            <>
              Text with <code>{'{body}'}</code>, and with <code>{'{time}'}</code>, <code>{'{url}'}</code> or{' '}
              <code>{'{header:name}'}</code> if they are signed too, such as <code>{'{time}.{body}'}</code>.
            </>
          ),
        })}
      </fieldset>
      <fieldset>
        <legend>Event</legend>
        {VERIFICATION.field('id', of)}
        {VERIFICATION.field('type', of)}
        {VERIFICATION.field('time', of)}
        {VERIFICATION.field('livemode', of)}
      </fieldset>
      <Wrong>{mistakes.form}</Wrong>
      <button type="submit" class="primary">
        Save verification
      </button>
    </Post>
  )
}
