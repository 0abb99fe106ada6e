import type { PropsWithChildren } from 'hono/jsx'

type CannotProps = PropsWithChildren<{
  title: string
  /** Where the button below leads. */
  back: readonly [label: string, path: string]
}>

/** What stands in place of a question if the action is not possible. Children: why, and what to do about it. */
export function Cannot({ title, back: [label, path], children }: CannotProps) {
  return (
    <section id="confirm" class="confirm">
      <h1>{title}</h1>
      {children}
      <div class="choice">
        <a class="button" href={path} data-close>
          {label}
        </a>
      </div>
    </section>
  )
}
