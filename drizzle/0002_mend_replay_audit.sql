-- The audit rows of bulk replays held their filter as JSON inside a JSON string: store the object itself.
UPDATE `audit_log` SET `details` = json_set(`details`, '$.filter', json(`details` ->> '$.filter'))
WHERE `action` = 'events.replayed' AND json_type(`details`, '$.filter') = 'text' AND json_valid(`details` ->> '$.filter');
