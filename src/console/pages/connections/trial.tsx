import type { ConnectionRow } from '../../../inbox/connections/connection'
import { TrialBody } from '../../../inbox/connections/fields'
import { SIGNED_SHOWS } from '../../../inbox/connections/limits'
import type { Trial } from '../../../inbox/connections/try-verification'
import type { Visit } from '../../page'
import { parse, type Sent } from '../../refusal'
import { Field, Post, Wrong } from '../../ui/controls'
import { Id } from '../../ui/id'
import { Copyable, Fact } from '../../ui/parts'
import { connectionPath, secretName } from './describe'

/** The delivery of a submitted form. @throws {Fault} `validation_failed` */
export function triedDelivery(sent: URLSearchParams) {
  // A browser sends line breaks as two characters.
  const lines = (name: string) => (sent.get(name) ?? '').replaceAll('\r\n', '\n')
  const headers = new Map<string, string>()
  for (const line of lines('headers').split('\n')) {
    if (line.trim() === '') continue
    const [name = '', ...rest] = line.split(':')
    const key = name.trim().toLowerCase()
    // As requests are read: a header that is there twice is one with a comma.
    headers.set(key, [headers.get(key) ?? [], rest.join(':').trim()].flat().join(', '))
  }
  return parse(TrialBody, { body: lines('body'), headers: Object.fromEntries(headers) })
}

type Props = {
  c: Visit
  row: ConnectionRow
  sent: Sent | undefined
  trial: { result: Trial; form: URLSearchParams } | undefined
}

/** A form that tries a delivery, and what became of it. */
export function TryDelivery({ c, row, sent, trial }: Props) {
  const entered = trial?.form ?? sent?.entered
  const mistakes = sent?.mistakes ?? {}
  const area = (name: string, label: string, rows: number, hint: string) => (
    <Field name={name} label={label} hint={hint} mistakes={mistakes}>
      <textarea id={name} name={name} rows={rows} spellcheck={false} autocomplete="off">
        {entered?.get(name) ?? ''}
      </textarea>
    </Field>
  )
  return (
    <>
      <h2 id="try">Try a delivery</h2>
      <p class="quiet">
        We do not keep the bodies of refused deliveries. Copy one from the sender’s log to see which step fails and what
        was signed. Nothing is recorded.
      </p>
      {trial && <Result result={trial.result} row={row} />}
      <Post c={c} to={`${connectionPath(c, row)}/verification/try#try`} class="form wide">
        {area('headers', 'Headers', 5, 'One per line, as Name: value.')}
        {area('body', 'Body', 8, 'Exactly as it was sent. Line breaks are read as line feeds.')}
        <Wrong>{mistakes.form}</Wrong>
        <button type="submit">Try</button>
      </Post>
    </>
  )
}

function Result({ result, row }: { result: Trial; row: ConnectionRow }) {
  const { accepted, failed, reason, signed, secret_id, event } = result
  const secret = row.secrets.find(({ id }) => id === secret_id)
  return (
    <div id="tried" role="status">
      <p class={accepted && failed === null ? 'notice' : 'warning'}>
        <strong>{accepted ? 'Accepted.' : 'Refused.'}</strong> {reason}
      </p>
      <dl class="facts">
        {failed && (
          <Fact name="Failed step">
            <code>{failed}</code>
          </Fact>
        )}
        {secret && <Fact name="Signed with">{`The ${secretName(secret.hint)}`}</Fact>}
        {event && (
          <>
            <Fact name="Type">
              <code>{event.type}</code>
            </Fact>
            <Fact name="ID">{event.id === null ? 'The SHA-256 of the bytes' : <Id>{event.id}</Id>}</Fact>
            <Fact name="Time">{event.occurred_at ?? 'Not given'}</Fact>
            <Fact name="Mode">{event.livemode === null ? 'Not given' : event.livemode ? 'Live' : 'Test'}</Fact>
          </>
        )}
      </dl>
      {signed !== null && (
        <>
          <p>What was signed, up to {SIGNED_SHOWS} characters:</p>
          <Copyable id="signed" label="signed text">
            {signed}
          </Copyable>
        </>
      )}
    </div>
  )
}
