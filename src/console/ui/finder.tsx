import type { PropsWithChildren } from 'hono/jsx'

type FinderProps = PropsWithChildren<{
  action: string
  /** What was searched for. */
  q: string
  label: string
  placeholder: string
  maxlength: number
}>

/** One field above a list, for what identifies its rows. @param props.children hidden fields with other filters */
export function Finder({ action, label, children, ...input }: FinderProps) {
  const { q, ...more } = input
  return (
    <search>
      <form class="search" method="get" action={action}>
        {children}
        <div class="finder">
          <label class="unseen" for="q">
            {label}
          </label>
          <input id="q" name="q" type="search" value={q} autocomplete="off" spellcheck={false} {...more} />
          <button type="submit" class="primary">
            Find
          </button>
        </div>
      </form>
    </search>
  )
}
