// Opens the search over any page, and moves through what was found with the arrow keys. The search also works as a page.

const searchLink = () => document.querySelector('[data-find]')

// The dialog opens at once, with a box that takes what is typed until the form of the page is there.
async function openFind() {
  const link = searchLink()
  const dialog = document.getElementById('dialog')
  const box = document.createElement('input')
  box.type = 'search'
  box.setAttribute('aria-label', 'Search this project')
  dialog.replaceChildren(box)
  dialog.setAttribute('aria-label', 'Search')
  dialog.classList.add('finding')
  dialog.showModal()
  box.focus()
  const answer = await fetch(link.href, { headers: { 'HX-Request': 'true' } }).catch(() => null)
  const page = answer?.ok ? new DOMParser().parseFromString(await answer.text(), 'text/html') : null
  if (!box.isConnected) return
  const form = page?.getElementById('find')
  if (!form) return location.assign(link.href)
  dialog.replaceChildren(form)
  htmx.process(form)
  const { q } = form.elements
  q.value = box.value
  q.focus()
  if (q.value !== '') q.dispatchEvent(new Event('input', { bubbles: true }))
}

// The event comes some time after the dialog has closed: it may be open again.
document.addEventListener(
  'close',
  ({ target }) => {
    if (!target.matches('dialog.finding') || target.open) return
    target.classList.remove('finding')
    target.replaceChildren()
  },
  true,
)

// A click beside the dialog closes it.
document.addEventListener('click', ({ target, clientX, clientY }) => {
  if (!target.matches('dialog.finding')) return
  const { left, right, top, bottom } = target.getBoundingClientRect()
  if (clientX < left || clientX > right || clientY < top || clientY > bottom) target.close()
})

document.addEventListener('click', (event) => {
  if (!event.target.closest('[data-find]') || event.ctrlKey || event.metaKey || event.shiftKey) return
  event.preventDefault()
  openFind()
})

document.addEventListener('keydown', (event) => {
  const { key, target } = event
  const isShortcut = key === 'k' ? event.ctrlKey || event.metaKey : key === '/' && !event.ctrlKey && !event.metaKey
  // For a moment after the dialog has closed, its box still has the focus.
  const types = target.matches('input, select, textarea, [contenteditable]') && !target.closest('dialog:not([open])')
  if (isShortcut && (key === 'k' || !types) && searchLink() && !document.querySelector('dialog[open]')) {
    event.preventDefault()
    const typed = document.querySelector('main #find')?.elements.q
    if (typed) typed.select()
    else openFind()
  } else if (key === 'ArrowDown' || key === 'ArrowUp') moveIn(target.closest('[data-finds]'), event)
  else if (key === 'Escape' && target.matches('dialog.finding input')) {
    // Alone, the key would only empty the box.
    event.preventDefault()
    target.closest('dialog').close()
  }
})

// A form that finds as one types: the search, and the menu of projects. Whether what it shows is for what was typed. While someone is still typing,
// it may be for the first letters only.
const isCurrent = (form) => form.querySelector('[data-for]').dataset.for === form.elements.q.value.trim()
const foundIn = (form) => [...form.querySelectorAll('[data-for] a')]

function moveIn(form, event) {
  if (!form?.elements.q || !isCurrent(form)) return
  const stops = [form.elements.q, ...foundIn(form)]
  const next = stops[stops.indexOf(event.target) + (event.key === 'ArrowDown' ? 1 : -1)]
  if (!next) return
  event.preventDefault()
  next.focus()
}

// Enter opens the first result.
document.addEventListener('submit', (event) => {
  const form = event.target
  if (!form.matches('[data-finds]') || !isCurrent(form)) return
  const [first] = foundIn(form)
  if (!first) return
  event.preventDefault()
  location.assign(first.href)
})

// A menu with a field to type into opens with the cursor in it.
document.addEventListener(
  'toggle',
  ({ target }) => target.open && target.querySelector('[data-finds] input')?.focus(),
  true,
)
