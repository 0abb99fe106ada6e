CREATE TABLE `customer_links` (
	`project_id` text NOT NULL,
	`customer` text NOT NULL,
	`vendor` text NOT NULL,
	`said` text,
	`said_rank` text,
	`hint` text,
	`hint_rank` text,
	`pinned` text,
	`ref` text GENERATED ALWAYS AS (CASE WHEN pinned IS NULL THEN coalesce(said, hint) END) VIRTUAL,
	PRIMARY KEY(`project_id`, `customer`, `vendor`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `customer_links_ref` ON `customer_links` (`project_id`,`ref`) WHERE ref IS NOT NULL;--> statement-breakpoint
CREATE INDEX `customer_links_pinned` ON `customer_links` (`project_id`,`pinned`) WHERE pinned IS NOT NULL;