import type { Child, PropsWithChildren } from 'hono/jsx'
import type { Visit } from '../page'
import type { Mistakes } from '../refusal'

/** A form that posts, with the token that proves it belongs to this session. */
export function Post(props: PropsWithChildren<{ c: Visit; to: string; class?: string }>) {
  return (
    <form method="post" action={props.to} class={props.class}>
      <input type="hidden" name="form_token" value={props.c.get('formToken')} />
      {props.children}
    </form>
  )
}

/** The end of a form: the button that sends it, and a link back. @param back where "Cancel" leads */
export function SubmitOrCancel({ label, back }: { label: string; back: string }) {
  return (
    <div class="choice">
      <button type="submit" class="primary">
        {label}
      </button>
      <a class="button" href={back}>
        Cancel
      </a>
    </div>
  )
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
  placeholder?: string
  autocomplete?: string
  autofocus?: boolean
}>

/** A labeled field with its error message. Pass children to use a control other than a text input. */
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
          // The cursor goes to the first mistake: browsers take the first field that asks for it.
          autofocus={Object.keys(mistakes ?? {}).length === 0 ? input.autofocus : wrong !== undefined}
          aria-invalid={wrong ? 'true' : undefined}
          aria-describedby={wrong ? `${name}-wrong` : hint ? `${name}-hint` : undefined}
        />
      )}
      {wrong && <Wrong id={`${name}-wrong`}>{wrong}</Wrong>}
      {hint && (
        <p class="hint" id={`${name}-hint`}>
          {hint}
        </p>
      )}
    </div>
  )
}

/** What can be chosen. `kind`: for the style sheet, which shows other fields for it or not. */
export type Option = readonly [value: string, label: string, kind?: string]

/** Options under a heading. */
export type OptionGroup = readonly [label: string, options: readonly Option[]]

/** A drop-down list. @param props.groups options below the others, in groups */
export function Select(props: {
  name: string
  value?: string | undefined
  options: readonly Option[]
  groups?: readonly OptionGroup[] | undefined
  required?: boolean
}) {
  const shown = (options: readonly Option[]) =>
    options.map(([value, label, kind]) => (
      <option value={value} class={kind} selected={value === (props.value ?? '')}>
        {label}
      </option>
    ))
  return (
    <select id={props.name} name={props.name} required={props.required}>
      {shown(props.options)}
      {props.groups?.map(([label, options]) => (
        <optgroup label={label}>{shown(options)}</optgroup>
      ))}
    </select>
  )
}

/** An error message, next to the field it is about. Renders nothing without text. */
export function Wrong({ id, children }: PropsWithChildren<{ id?: string }>) {
  return children ? (
    <p class="wrong" id={id} role="alert">
      {children}
    </p>
  ) : null
}
