import type { Child } from 'hono/jsx'
import type * as z from 'zod'
import { type Mistakes, parse, type Sent } from './refusal'
import { Field, type Option, Select } from './ui/controls'
import type { Difference } from './ui/differences'
import { words } from './ui/format'

/** How a field is shown. A page can say some of it where it shows the form. */
type Look = {
  label: string
  hint?: Child
  type?: string
  required?: boolean
  maxlength?: number
  autocomplete?: string
  autofocus?: boolean
  /** The rows of a text with several lines. */
  rows?: number
  options?: readonly Option[]
}

type Shown = Look & { name: string; value: string; mistakes: Mistakes }

/** A field of a form: one line of its declaration. */
type FieldOf = {
  look: Look
  /** What its text stands for, as the API takes it; undefined if the body then lacks it. */
  read: (text: string, sent: URLSearchParams, name: string) => unknown
  /** Whether the body has the field; by default, if it was sent. */
  when?: ((sent: URLSearchParams) => boolean) | undefined
  /** Whether it is read from what the page sends under other names. It is then read even if nothing was sent under its own. */
  own?: true
  /** What null is called outside the form. By default: not set. */
  none?: string | undefined
  /** The text of a stored value. */
  show: (value: unknown) => string
  Control: (props: Shown) => Child
}

type More = Omit<Look, 'label'> & {
  when?: FieldOf['when']
  /** What an empty text stands for. By default: itself in a field that is required, and else nothing. */
  empty?: null | '' | undefined
  none?: string
}

const asText = (value: unknown) => String(value ?? '')

/** A line of text. */
export function text(label: string, { empty, when, none, ...look }: More = {}): FieldOf {
  const unset = look.required ? '' : empty
  const read = (sent: string) => (sent === '' ? unset : sent)
  return { look: { label, ...look }, when, none, read, show: asText, Control: Line }
}

/** A number. An empty one is null, unless it is required. */
export function number(label: string, { none, ...look }: Omit<More, 'when' | 'empty'> = {}): FieldOf {
  const read = (sent: string) => (sent === '' ? (look.required ? Number.NaN : null) : Number(sent))
  return { look: { label, type: 'number', ...look }, none, read, show: asText, Control: Line }
}

/** A choice from a list. An empty one is itself, unless it says what else it stands for. */
export function choice(label: string, options: NonNullable<Look['options']>, more: More = {}): FieldOf {
  return { ...text(label, { empty: '', ...more, options }), Control: Choice }
}

/** A box to tick. */
export function tick(label: string, { when, hint }: Pick<More, 'when' | 'hint'> = {}): FieldOf {
  return { look: { label, hint }, when, read: (sent) => sent === 'true', show: asText, Control: Tick }
}

/** The texts that were sent under a name, in one field or in several. @param between what is between them */
export function textsIn(sent: URLSearchParams, name: string, between = /\s+/): string[] {
  const texts = sent.getAll(name).flatMap((one) => one.trim().split(between))
  return texts.filter((one) => one !== '')
}

/** Several texts in one field, or in several with one name: boxes to tick, and a text for the others. @param between what is between them */
export function list(label: string, between: ' ' | '\n' | ', ', { when, none, ...look }: More = {}): FieldOf {
  const parts = between === ', ' ? /\s*,\s*/ : /\s+/
  return {
    look: { label, ...look },
    when,
    none,
    read: (_, sent, name) => textsIn(sent, name, parts),
    show: (value) => (value as string[]).join(between),
    Control: look.rows ? Area : Line,
  }
}

/** A field that the page shows in its own way. */
export function own(read: FieldOf['read'], when?: FieldOf['when']): FieldOf {
  return { look: { label: '' }, when, own: true, read, show: asText, Control: () => null }
}

/**
 * A form, as one declaration: its fields, and the schema of the call that takes them. A new field is a line here, and one
 * where the page shows it.
 */
export function form<T extends z.ZodType, Names extends string>(schema: T, fields: Record<Names, FieldOf>) {
  const all = Object.entries(fields) as [Names, FieldOf][]
  /** The fields of a submitted form, as the API takes them. A field that the page did not show stays as it is stored. */
  function read(sent: URLSearchParams): Record<string, unknown> {
    const there = all.filter(([name, { own, when }]) => (own || sent.has(name)) && (when?.(sent) ?? true))
    const values = there.map(([name, field]) => [name, field.read((sent.get(name) ?? '').trim(), sent, name)])
    return Object.fromEntries(values.filter(([, value]) => value !== undefined))
  }
  return {
    /** The names of the fields with their labels, in order. */
    labels: all.map(([name, field]) => [name, labelOf(field)] as const),
    fields: read,
    /** What a submitted form stands for. @param more fields that it does not have @throws {Fault} `validation_failed` */
    body: (sent: URLSearchParams, more: object = {}): z.infer<T> => parse(schema, { ...read(sent), ...more }),
    /** The form as it is opened for something stored. */
    opened(stored: Partial<Record<Names, unknown>>): URLSearchParams {
      return new URLSearchParams(
        all.flatMap(([name, field]) => (name in stored ? [[name, field.show(stored[name])]] : [])),
      )
    },
    /** Values in the words of the form, each after what it was before, where that is known: see {@link fromTo}. */
    said(stored: Record<string, unknown>, before: Record<string, unknown> = {}): Difference[] {
      return all.flatMap(([name, field]) =>
        fromTo(labelOf(field), [before[name], stored[name]], (value) => inWords(value, field)),
      )
    },
    /** A field with its label, as it was filled in, and what is wrong with it. @param look how else it is shown here */
    field(name: Names, { entered, mistakes }: Pick<Sent, 'entered' | 'mistakes'>, look: Partial<Look> = {}) {
      const { Control, look: usual } = fields[name]
      return <Control {...usual} {...look} name={name} value={entered?.get(name) ?? ''} mistakes={mistakes} />
    },
  }
}

/** What a field is called outside its form. */
const labelOf = ({ look }: FieldOf) => look.label.replace(' (optional)', '')

/** A change in words: `Active devices per consumer`, from `3` to `100`. Empty if there is no value, or if it has not changed. */
export function fromTo(
  label: string,
  [before, after]: [unknown, unknown],
  inWords: (value: unknown) => string,
): Difference[] {
  if (after === undefined) return []
  const [from, to] = [before === undefined ? undefined : inWords(before), inWords(after)]
  return from === to ? [] : [{ what: label, from, to }]
}

function inWords(value: unknown, { none = 'not set', look: { options = [] } }: FieldOf): string {
  if (value === null) return none
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  return options.find(([one]) => one === value)?.[1] ?? words(value)
}

function Line({ options, rows, value, ...line }: Shown) {
  // A password is never sent back.
  return <Field value={line.type === 'password' ? undefined : value} {...line} />
}

function Choice({ name, label, value, hint, mistakes, required, options = [] }: Shown) {
  return (
    <Field name={name} label={label} hint={hint} mistakes={mistakes}>
      <Select name={name} value={value} options={options} required={required ?? false} />
    </Field>
  )
}

function Area({ name, label, value, hint, mistakes, rows }: Shown) {
  return (
    <Field name={name} label={label} hint={hint} mistakes={mistakes}>
      <textarea id={name} name={name} rows={rows}>
        {value}
      </textarea>
    </Field>
  )
}

function Tick({ name, label, value, hint }: Shown) {
  const id = hint ? `${name}-hint` : undefined
  return (
    <div class="field">
      <div class="checks one">
        <label>
          <input
            type="checkbox"
            id={name}
            name={name}
            value="true"
            checked={value === 'true'}
            autocomplete="off"
            aria-describedby={id}
          />{' '}
          {label}
          {/* A browser sends nothing for an empty box. */}
          <input type="hidden" name={name} value="false" />
        </label>
      </div>
      {hint && (
        <p class="hint" id={id}>
          {hint}
        </p>
      )}
    </div>
  )
}
