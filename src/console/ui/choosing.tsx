import type { Child, PropsWithChildren } from 'hono/jsx'
import { Cannot } from './cannot'

type ChoosingProps = PropsWithChildren<{
  /** Whether the visitor may do it. If not, the list has no form. */
  may: boolean
  /** The page that asks. It gets the ids of the rows that were chosen, each as `id`. */
  to: string
  verb: string
  danger?: boolean
  /** Hidden fields. */
  with?: Child
}>

/**
 * The form around a list for what is done with the rows that are chosen in it. The style sheet counts them and shows the button once there is one, so
 * this works without a script. Enter in a box sends the form too.
 */
export function Choosing({ may, to, verb, danger, with: hidden, children }: ChoosingProps) {
  if (!may) return <>{children}</>
  return (
    <form action={to} class="choosing" autocomplete="off">
      {hidden}
      {children}
      <div class="chosen">
        <button type="submit" class={danger ? 'danger' : 'primary'}>
          {verb}
        </button>
        <button type="reset">Clear</button>
      </div>
    </form>
  )
}

/** The box that chooses a row. */
export function Choose({ id, name }: { id: string; name: string }) {
  return (
    <label class="choose">
      <input type="checkbox" name="id" value={id} aria-label={`Select ${name}`} />
    </label>
  )
}

/** The box that chooses all rows of a list. It needs the script. */
export function ChooseAll() {
  return (
    <label class="choose">
      <input type="checkbox" data-all aria-label="Select all" />
    </label>
  )
}

type NothingProps = PropsWithChildren<{
  title: string
  /** What is chosen, in the plural. */
  what: string
  back: string
}>

/** The page instead of a question, if nothing that was chosen can be dealt with. Children: why. */
export function NothingChosen({ title, what, back, children }: NothingProps) {
  return (
    <Cannot title={title} back={['Back to the list', back]}>
      {children}
      <p>Select {what} in the list first.</p>
    </Cannot>
  )
}
