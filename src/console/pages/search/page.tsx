import { MAX_TEXT } from '../../../search/limits'
import { pathsOf, type Visit } from '../../page'
import { TestBadge } from '../../ui/badge'
import { show } from '../../ui/layout'
import { Head } from '../../ui/parts'
import type { Destination } from './places'

/** What a search shows. `elsewhere`: where else to look. `problem`: why the text cannot be searched for. */
export type Shown = {
  text: string
  places: readonly Destination[]
  elsewhere: readonly Destination[]
  complete: boolean
  problem: string | null
}

/** The page of the search. The dialog that a shortcut opens shows its form. */
export function searchPage(c: Visit, shown: Shown) {
  const { search } = pathsOf(c)
  return show(
    c,
    { title: 'Search', status: shown.problem === null ? 200 : 422 },
    <>
      <Head title="Search" />
      <search>
        <form id="find" action={search} method="get" data-finds>
          <label for="find-text" class="unseen">
            Search this project
          </label>
          <input
            id="find-text"
            type="search"
            name="q"
            value={shown.text}
            maxlength={MAX_TEXT}
            placeholder="ID, name, email address, page…"
            autocomplete="off"
            spellcheck={false}
            autofocus
            hx-get={search}
            hx-trigger="input changed delay:150ms"
            hx-target="#found"
            hx-swap="outerHTML"
            hx-sync="this:replace"
          />
          <button type="submit">Search</button>
          <FoundPlaces shown={shown} />
        </form>
      </search>
    </>,
  )
}

/** What was found: a part of the page, and what a script asks for while somebody types. */
export function FoundPlaces({ shown: { text, places, elsewhere, complete, problem } }: { shown: Shown }) {
  const all = [...places, ...elsewhere]
  return (
    <div id="found" data-for={text}>
      {problem && (
        <p class="wrong" role="alert">
          {problem}
        </p>
      )}
      {!complete && (
        <p class="quiet" role="status">
          We could not search members, invitations, domains, single sign-on and projects. Try again in a moment.
        </p>
      )}
      {places.length === 0 && problem === null && <p class="quiet">Nothing found for “{text}”.</p>}
      {all.length > 0 && (
        <ul class="places">
          {all.map(({ kind, title, detail, livemode, to }) => (
            <li>
              <a href={to}>
                <span class="cut">{title}</span>
                {detail !== null && <span class="cut quiet">{detail}</span>}
                <span class="kind quiet">
                  <TestBadge of={livemode} /> {kind}
                </span>
              </a>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
