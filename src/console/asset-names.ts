// Made by scripts/assets.ts: where each asset of the console is served.
export const STYLE = '/assets/style-4047730725.css'
export const SCRIPT = '/assets/script-b99c4a6389.js'
export const ICON = '/assets/icon-1528e32439.svg'
export const REFERENCE_STYLE = '/assets/reference-style-7e73ba655e.css'
export const REFERENCE_SCRIPT = '/assets/reference-script-48ed734656.js'
