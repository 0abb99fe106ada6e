import type { Context } from 'hono'
import type { Child, PropsWithChildren } from 'hono/jsx'
import type { HttpEnv } from '../../http/context'
import { Post } from './controls'

type ConfirmProps = {
  c: Context<HttpEnv>
  title: Child
  to: string
  verb: string
  back: string
  danger?: boolean
  /** Fields of the form, shown above its buttons. */
  choice?: Child
}

/** A confirmation before an action that cannot be undone. With JavaScript it opens in a dialog. */
export function Confirm({ c, title, to, verb, back, danger, choice, children }: PropsWithChildren<ConfirmProps>) {
  return (
    <section id="confirm" class="confirm">
      <h1>{title}</h1>
      {children}
      <Post c={c} to={to} class="once">
        {choice}
        <div class="choice">
          <button type="submit" class={danger ? 'danger' : 'primary'}>
            {verb}
          </button>
          {/* Enter must not end anything by accident. */}
          <a class="button" href={back} data-close autofocus={danger}>
            Cancel
          </a>
        </div>
      </Post>
    </section>
  )
}
