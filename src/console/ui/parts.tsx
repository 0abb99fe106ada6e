import { type Child, createContext, type PropsWithChildren, useContext } from 'hono/jsx'
import { iso } from '../../lib/time'
import { type Times, timesIn } from '../browser'
import type { Visit } from '../page'
import { exact, inFull, relative } from './format'

/** A page heading with the actions available on the page. */
export function Head({ title, children }: PropsWithChildren<{ title: Child }>) {
  return (
    <div class="head">
      <h1>{title}</h1>
      <div class="actions">{children}</div>
    </div>
  )
}

const Chosen = createContext<Times>('relative')

/** Shows the times in it as the reader has chosen in this browser. A page has it; a fragment with times needs its own. */
export function InChosenTimes({ c, children }: PropsWithChildren<{ c: Visit }>) {
  return <Chosen.Provider value={timesIn(c)}>{children}</Chosen.Provider>
}

/** A time relative to now, which the script keeps true. The exact time, in UTC and the reader's own, appears on hover. */
function Ago({ at, now }: { at: number; now: number }) {
  return (
    <time datetime={iso(at)} title={exact(at)}>
      {relative(at, now)}
    </time>
  )
}

/** A time in UTC, which the script replaces with that of the reader's zone, if it was chosen. How far away it is appears on hover. */
function Exact({ at, now }: { at: number; now: number }) {
  return (
    <time datetime={iso(at)} title={relative(at, now)} data-zone={useContext(Chosen) === 'local' ? 'local' : 'utc'}>
      {exact(at)}
    </time>
  )
}

type TimeProps = { at: number | null; now: number; none?: string }

/** A time as the reader has chosen: how far away it is, or in full. */
export function Time({ at, now, none = 'Never' }: TimeProps) {
  if (at === null) return none === '' ? <None /> : <span class="quiet">{none}</span>
  return useContext(Chosen) === 'relative' ? <Ago at={at} now={now} /> : <Exact at={at} now={now} />
}

/** A text that breaks between its parts, and not in the middle of one. */
function Parts({ of }: { of: string[] }) {
  return (
    <>
      {of.map((part, at) => (
        <>
          {at > 0 && <wbr />}
          {part}
        </>
      ))}
    </>
  )
}

/** A name of words that dots or else underscores join, such as an event type. A long one breaks after them. */
export function Dotted({ children }: { children: string }) {
  return <Parts of={children.split(children.includes('.') ? /(?<=\.)/ : /(?<=_)/)} />
}

/** Characters of an email address that fit into a column or a card. */
const FITS = 24

/** An email address. A long one breaks after a dot or the @. */
export function Email({ of }: { of: string }) {
  return <Parts of={of.length > FITS ? of.split(/(?<=[@.])/) : [of]} />
}

/** Stands for a value that is missing. On a narrow screen, a cell with nothing else is left out. */
export const None = () => <span class="quiet none">–</span>

/** A time in full and, while that says more, how far away it is: for the page of one thing. */
export function ExactTime({ at, now, none = 'Never' }: TimeProps) {
  if (at === null) return <span class="quiet">{none}</span>
  const full = <Exact at={at} now={now} />
  // From some distance on, the relative time is the date again.
  if (inFull(at, now) === exact(at)) return full
  return (
    <>
      {full}{' '}
      <span class="quiet aside">
        (<Ago at={at} now={now} />)
      </span>
    </>
  )
}

/** A term and its value in a list of facts. */
export function Fact({ name, children }: PropsWithChildren<{ name: string }>) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

/** Text with a copy button. The button needs JavaScript and is hidden without it. */
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

/** A short code in a line with a copy button, which needs JavaScript too. */
export function CopyableCode({ id, label, children }: { id: string; label: string; children: string }) {
  return (
    <>
      <code id={id}>{children}</code>{' '}
      <button type="button" data-copy={id} hidden>
        Copy<span class="unseen"> {label}</span>
      </button>
    </>
  )
}

type OnceProps = { what: 'secret' | 'token'; of: Child; kept: string; children: string }

/** A secret on the only page that shows it. @param props.of the heading of what has it @param props.kept how it is stored */
export function ShownOnce({ what, of, kept, children }: OnceProps) {
  return (
    <>
      <p class="warning" role="note">
        <strong>Copy the {what} now. You will not be able to see it again.</strong> {kept}
      </p>
      {of}
      <Copyable id="secret" label={what}>
        {children}
      </Copyable>
    </>
  )
}

/** Attributes that make an element reload itself. @param at the page's path @param every the interval, such as `2s` */
export function live(id: string, at: string, every: string) {
  return {
    'hx-get': at,
    'hx-select': `#${id}`,
    'hx-swap': 'outerHTML',
    'hx-trigger': `every ${every}`,
    'data-live': '',
  }
}
