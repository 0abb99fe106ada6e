import { Id } from '../../ui/id'
import { Dotted } from '../../ui/parts'

type LinkedProps = { to: string | undefined; id: string; name?: string | undefined }

/** A name, or else an id, which leads to its page if it has one. A name has its id as a title, unless the page's address shows it. */
export function Linked({ to, id, name }: LinkedProps) {
  const title = name === undefined || to?.endsWith(`/${id}`) ? undefined : id
  const shown = name === undefined ? <Id>{id}</Id> : <Dotted>{name}</Dotted>
  return to === undefined ? (
    <span title={title}>{shown}</span>
  ) : (
    <a href={to} title={title}>
      {shown}
    </a>
  )
}
