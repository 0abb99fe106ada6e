CREATE TABLE `account_events` (
	`user_id` text NOT NULL,
	`id` text NOT NULL,
	`type` text NOT NULL,
	`at` integer NOT NULL,
	`count` integer DEFAULT 1 NOT NULL,
	`session_id` text,
	`user_agent` text,
	`country` text,
	PRIMARY KEY(`user_id`, `id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `account_events_at` ON `account_events` (`at`);