import type { Context } from 'hono'
import type { Child, PropsWithChildren } from 'hono/jsx'
import type { HttpEnv } from '../../http/context'
import { iso } from '../../lib/time'
import type { Mistakes } from '../page'
import { exact, relative } from './format'

/** What a page may say after a redirect: the address names one of these, never a text. */
const NOTICES = {
  signed_out: 'You are signed out.',
  session_ended: 'The session was ended.',
  project_created: 'The project was created. Mint an API key to start.',
  key_revoked: 'The key was revoked. It stopped working at once.',
  connection_updated: 'The connection was changed.',
  connection_deleted: 'The connection was deleted. Its events stay.',
  secret_added: 'The signing secret was added.',
  secret_removed: 'The signing secret was removed.',
  replayed: 'The event will be processed again.',
  replay_coming: 'The event is open already: its next run is on its way.',
  nothing_to_replay: 'Nothing was replayed: every event that matches is open already.',
}
export type NoticeName = keyof typeof NOTICES

export function Notice({ name }: { name: NoticeName | undefined }) {
  if (name === undefined || !Object.hasOwn(NOTICES, name)) return null
  return (
    <p class="notice" role="status">
      {NOTICES[name]}
    </p>
  )
}

/** A form that posts, with the token that shows it to be the session's own. */
export function Post(props: PropsWithChildren<{ c: Context<HttpEnv>; to: string; class?: string }>) {
  return (
    <form method="post" action={props.to} class={props.class}>
      <input type="hidden" name="form_token" value={props.c.get('formToken')} />
      {props.children}
    </form>
  )
}

/** A page's heading with what can be done on it. */
export function Head({ title, children }: PropsWithChildren<{ title: Child }>) {
  return (
    <div class="head">
      <h1>{title}</h1>
      <div class="actions">{children}</div>
    </div>
  )
}

/** A time as its distance from now, exact on hover. */
export function Time({ at, now, none = 'Never' }: { at: number | null; now: number; none?: string }) {
  if (at === null) return <span class="quiet">{none}</span>
  return (
    <time datetime={iso(at)} title={exact(at)}>
      {relative(at, now)}
    </time>
  )
}

const TONES: Record<string, string> = {
  processed: 'good',
  active: 'good',
  paid: 'good',
  applied: 'good',
  ok: 'good',
  failed: 'bad',
  failing: 'bad',
  died: 'bad',
  expired: 'bad',
  retrying: 'warn',
  degraded: 'warn',
  disabled: 'warn',
  past_due: 'warn',
  unpaid: 'bad',
  ambiguous: 'warn',
}

/** A status as a word, with a colour besides. */
export function Badge({ of }: { of: string }) {
  return <span class={`badge ${TONES[of] ?? ''}`}>{of}</span>
}

type FieldProps = PropsWithChildren<{
  name: string
  label: string
  value?: string | undefined
  hint?: Child
  mistakes?: Mistakes | undefined
  type?: string
  required?: boolean
  maxlength?: number
  autocomplete?: string
  autofocus?: boolean
}>

/** A labelled field; what is wrong with it stands beside it. Give children to put another control in its place. */
export function Field({ name, label, hint, mistakes, children, ...input }: FieldProps) {
  const wrong = mistakes?.[name]
  return (
    <div class="field">
      <label for={name}>{label}</label>
      {children ?? (
        <input
          id={name}
          name={name}
          autocomplete="off"
          {...input}
          aria-invalid={wrong ? 'true' : undefined}
          aria-describedby={wrong ? `${name}-wrong` : hint ? `${name}-hint` : undefined}
        />
      )}
      {hint && (
        <p class="hint" id={`${name}-hint`}>
          {hint}
        </p>
      )}
      {wrong && <Wrong id={`${name}-wrong`}>{wrong}</Wrong>}
    </div>
  )
}

/** A list to choose from: values with their labels. */
export function Select(props: {
  name: string
  value?: string | undefined
  options: readonly (readonly [string, string])[]
}) {
  return (
    <select id={props.name} name={props.name}>
      {props.options.map(([value, label]) => (
        <option value={value} selected={value === (props.value ?? '')}>
          {label}
        </option>
      ))}
    </select>
  )
}

/** What is wrong, said where it is. */
export function Wrong({ id, children }: PropsWithChildren<{ id?: string }>) {
  return children ? (
    <p class="wrong" id={id} role="alert">
      {children}
    </p>
  ) : null
}

/** A text to copy, with a button where there is JavaScript. */
export function Copyable({ id, label, children }: { id: string; label: string; children: string }) {
  return (
    <div class="copyable">
      <section tabindex={0} aria-label={label}>
        <pre id={id}>{children}</pre>
      </section>
      <button type="button" data-copy={id} hidden>
        Copy<span class="unseen"> {label}</span>
      </button>
    </div>
  )
}

/** The cells of a row. On a narrow screen, where a row is a card, each but the first says what it is. */
export function Cells({ heads, of }: { heads: readonly string[]; of: readonly Child[] }) {
  return (
    <>
      {of.map((cell, index) => (
        <td class={heads[index] === '' ? 'actions' : undefined} data-label={index === 0 ? undefined : heads[index]}>
          {cell}
        </td>
      ))}
    </>
  )
}

/** Rows of cells, or cards on a narrow screen. A head without a name is one of buttons. */
export function Table(props: PropsWithChildren<{ label: string; heads: string[]; rows?: readonly Child[][] }>) {
  const { label, heads, rows, children } = props
  return (
    <section class="rows" aria-label={label} tabindex={0}>
      <table>
        <thead>
          <tr>
            {heads.map((head) => (
              <th scope="col">{head === '' ? <span class="unseen">Actions</span> : head}</th>
            ))}
          </tr>
        </thead>
        {children ?? (
          <tbody>
            {rows?.map((cells) => (
              <tr>
                <Cells heads={heads} of={cells} />
              </tr>
            ))}
          </tbody>
        )}
      </table>
    </section>
  )
}

type ConfirmProps = { c: Context<HttpEnv>; title: Child; to: string; verb: string; back: string; danger?: boolean }

/** A question before something that cannot be taken back. Where there is JavaScript it is asked in a dialog. */
export function Confirm({ c, title, to, verb, back, danger, children }: PropsWithChildren<ConfirmProps>) {
  return (
    <section id="confirm" class="confirm">
      <h1>{title}</h1>
      {children}
      <Post c={c} to={to} class="choice">
        <button type="submit" class={danger ? 'danger' : 'primary'}>
          {verb}
        </button>
        <a class="button" href={back} data-close>
          Cancel
        </a>
      </Post>
    </section>
  )
}

/** The way to the page after this one. */
export function More({ c, cursor }: { c: Context<HttpEnv>; cursor: string | null }) {
  const query = new URL(c.req.url).searchParams
  const first = query.has('cursor')
  query.delete('done')
  query.delete('cursor')
  const start = `?${query}`
  if (cursor !== null) query.set('cursor', cursor)
  if (cursor === null && !first) return null
  return (
    <nav class="more" aria-label="Pages">
      {first && <a href={start}>First page</a>}
      {cursor !== null && (
        <a href={`?${query}`} rel="next">
          Next page →
        </a>
      )}
    </nav>
  )
}

/** Attributes of a part that asks for itself again, so often, from where it stands. */
export function live(id: string, at: string, every: string) {
  return {
    'hx-get': at,
    'hx-select': `#${id}`,
    'hx-swap': 'outerHTML',
    'hx-trigger': `every ${every}`,
    'data-live': '',
  }
}

/** A term and what it is, in a list of such. */
export function Fact({ name, children }: PropsWithChildren<{ name: string }>) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
