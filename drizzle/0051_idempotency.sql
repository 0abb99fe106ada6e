CREATE TABLE `idempotency` (
	`project_id` text NOT NULL,
	`actor` text NOT NULL,
	`key_hash` text NOT NULL,
	`fingerprint` text NOT NULL,
	`object_id` text NOT NULL,
	`key_prefix` text,
	`at` integer NOT NULL,
	PRIMARY KEY(`project_id`, `actor`, `key_hash`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `idempotency_at` ON `idempotency` (`at`);--> statement-breakpoint
ALTER TABLE `replays` ADD `matched` integer;--> statement-breakpoint
ALTER TABLE `replays` ADD `next_cursor` text;