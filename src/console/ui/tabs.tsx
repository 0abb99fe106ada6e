import { Copyable } from './parts'

type Tab = readonly [name: string, label: string, text: string]

/** Examples to copy, in tabs: radio buttons and the style sheet, so that they work without a script. @param group unique on the page */
export function Tabs({ group, tabs, first }: { group: string; tabs: readonly Tab[]; first?: string | undefined }) {
  return (
    <fieldset class="tabs">
      <legend class="unseen">Example for</legend>
      {tabs.map(([name, label], at) => (
        <>
          <input
            type="radio"
            name={group}
            id={`${group}-${name}`}
            checked={first === undefined ? at === 0 : name === first}
            autocomplete="off"
          />
          <label for={`${group}-${name}`}>{label}</label>
        </>
      ))}
      {tabs.map(([name, label, text]) => (
        <div class="panel">
          <Copyable id={`${group}-${name}-example`} label={`${label} example`}>
            {text}
          </Copyable>
        </div>
      ))}
    </fieldset>
  )
}

type LinksProps<Name extends string> = {
  path: string
  tabs: readonly { name: Name; label: string }[]
  current: Name | null
}

/** The parts of a page, each with an address: `path?tab=name`. */
export function TabLinks<Name extends string>({ path, tabs, current }: LinksProps<Name>) {
  return (
    <nav class="parts" aria-label="Parts of this page">
      {tabs.map(({ name, label }) => (
        <a href={`${path}?tab=${name}`} aria-current={name === current ? 'page' : undefined}>
          {label}
        </a>
      ))}
    </nav>
  )
}
