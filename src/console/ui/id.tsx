/** An id, as plain text. The script adds an icon that copies it: copy.js. */
export function Id({ children }: { children: string }) {
  return <code class="id">{children}</code>
}

/** Something by what it is called, with its id beside it; by its id alone if that is all that is known. @param to its page, if it has one */
export function NamedId({ title, id, to }: { title: string | undefined; id: string; to?: string | undefined }) {
  if (title === undefined)
    return to === undefined ? (
      <Id>{id}</Id>
    ) : (
      <a href={to}>
        <Id>{id}</Id>
      </a>
    )
  return (
    <>
      {to === undefined ? title : <a href={to}>{title}</a>}{' '}
      <span class="aside quiet">
        <Id>{id}</Id>
      </span>
    </>
  )
}
