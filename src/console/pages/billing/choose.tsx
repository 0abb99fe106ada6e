import type { Consumer } from '../../../consumers/read'
import { NAMES_CONSUMER } from '../../../consumers/ref'
import type { ObjectKind } from '../../../lib/billing-kinds'
import { changed } from '../../list'
import { can, pathsOf, type Visit } from '../../page'
import { show } from '../../ui/layout'
import { Head } from '../../ui/parts'
import { findTyped } from '../consumers/find'
import { Choices, titleOf } from '../consumers/parts'
import { Box } from './narrow'
import type { ObjectList } from './object-list'

/** What a text in the search box of a list stands for: the list of one owner, or consumers to choose from. */
export type Meant = { filter: Record<string, string | null> } | { choices: Consumer[]; more: boolean }

/** Finds the consumers that a typed text can mean. A text that means none is taken as the vendor's id of a customer. */
export async function meantBy(c: Visit, text: string): Promise<Meant> {
  const owner = (name: 'consumer' | 'customer', id: string) => ({
    filter: { consumer: null, customer: null, [name]: id },
  })
  if (NAMES_CONSUMER.test(text)) return owner('consumer', text)
  if (!can(c, 'consumers:read')) return owner('customer', text)
  const { found, exact, more } = await findTyped(c, text)
  const [one, another] = found
  if (!one) return owner('customer', text)
  // The text can be the whole id of a customer, and only the beginning of a consumer's.
  const isSure = exact || !one.external_ids.some((id) => id.startsWith(text))
  return !another && isSure ? owner('consumer', one.id) : { choices: found, more }
}

type Props<K extends ObjectKind> = {
  list: ObjectList<K>
  query: URLSearchParams
  text: string
  choices: Consumer[]
  more: boolean
}

/** Asks which of several consumers the list is to be of. */
export function choosePage<K extends ObjectKind>(c: Visit, { list, query, text, choices, more }: Props<K>) {
  const { path, title } = list
  const to = (owner: Record<string, string>) =>
    `${pathsOf(c).billing}/${path}${changed(query, { consumer: null, customer: null, ...owner })}`
  return show(
    c,
    { title, section: path },
    <>
      <Head title={title} />
      <Box c={c} list={list} address={query} text={text} />
      <Choices
        c={c}
        rows={choices}
        more={more}
        choose={(row) => (
          <a class="button" href={to({ consumer: row.id })}>
            Show<span class="unseen"> {titleOf(row)}</span>
          </a>
        )}
      />
      <p>
        Or <a href={to({ customer: text })}>show the customer with the vendor’s ID “{text}”</a>.
      </p>
    </>,
  )
}
