import type { Visit } from '../page'

/** The button that downloads a list, with the filters of its address. @param at the path of the list */
export function CsvLink({ c, at, query: filters }: { c: Visit; at: string; query?: URLSearchParams }) {
  const query = new URLSearchParams(filters ?? new URL(c.req.url).searchParams)
  for (const name of ['done', 'cursor']) query.delete(name)
  return (
    <a class="button" href={query.size > 0 ? `${at}/csv?${query}` : `${at}/csv`}>
      Download CSV
    </a>
  )
}
