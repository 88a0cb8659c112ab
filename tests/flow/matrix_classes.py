"""The matrix's rows about classes."""

from matrix import Ask


def teacher(server):
    """The same one each time."""
    if not getattr(server, "teacher", None):
        server.teacher = server.account()
        server.post(f"/api/accounts/{server.teacher}/roles", {"roles": "teacher"}, "operator")
    return server.teacher


def shared(server):
    """A class with one pupil: whose it is, its id, and the pupil's account."""
    if not getattr(server, "shared_class", None):
        server.shared_class = new_class(server)
    return server.shared_class


def new_class(server):
    name = teacher(server)
    made = server.post("/api/classes", {"name": "5b"}, name)["class_id"]
    pupil = server.post(f"/api/classes/{made}/pupils", {"names": ["Anna"]}, name)["pupils"][0]["account"]
    return name, made, pupil


def of_class(body=None):
    def ask(server):
        name, made, _ = shared(server)
        return Ask(name, body, class_id=made)
    return ask


def of_pupil(server):
    name, made, pupil = shared(server)
    return Ask(name, class_id=made, account=pupil)


def second_teacher(server):
    """In a class of its own, so that it can be taken out."""
    name, made, _ = new_class(server)
    other = server.account()
    server.post(f"/api/accounts/{other}/roles", {"roles": "teacher"}, "operator")
    return name, made, other


def teacher_to_add(server):
    name, made, other = second_teacher(server)
    return Ask(name, class_id=made, account=other)


def teacher_to_remove(server):
    name, made, other = second_teacher(server)
    server.post(f"/api/classes/{made}/teachers/{other}", None, name, method="PUT")
    return Ask(name, class_id=made, account=other)


def no_teacher(server):
    name, made, _ = shared(server)
    return Ask(name, class_id=made, account=server.account())


def last_teacher(server):
    name, made, _ = shared(server)
    return Ask(name, class_id=made, account=name)


def handed_out(server):
    name, made, _ = shared(server)
    begun = server.post(f"/api/classes/{made}/handout", {"title": "Our town"}, name)
    return Ask(name, class_id=made, handout=begun["handout"])


def class_to_delete(server):
    name, made, _ = new_class(server)
    return Ask(name, class_id=made)


def pupil_to_remove(server):
    name, made, pupil = new_class(server)
    return Ask(name, class_id=made, account=pupil)


def one_too_many(server):
    name = server.account()
    server.post(f"/api/accounts/{name}/roles", {"roles": "teacher"}, "operator")
    for number in range(100):
        server.post("/api/classes", {"name": f"class {number}"}, name)
    return Ask(name, {"name": "one more"})


def without_phrases(server):
    server.request("PUT", "/admin/phrases", b"", server.tokens["operator"])
    return of_class({"rule": "phrases"})(server)


GOOD = {
    "POST /api/classes": lambda server: Ask(teacher(server), {"name": "5b"}),
    "GET /api/classes": lambda server: Ask(teacher(server)),
    "GET /api/classes/{class_id}": of_class(),
    "DELETE /api/classes/{class_id}": class_to_delete,
    "POST /api/classes/{class_id}/pupils": of_class({"names": ["Bert"]}),
    "DELETE /api/classes/{class_id}/pupils/{account}": pupil_to_remove,
    "POST /api/classes/{class_id}/pupils/{account}/code": of_pupil,
    "PUT /api/classes/{class_id}/teachers/{account}": teacher_to_add,
    "DELETE /api/classes/{class_id}/teachers/{account}": teacher_to_remove,
    "POST /api/classes/{class_id}/cards": of_class({"renew": True}),
    "POST /api/classes/{class_id}/handout": of_class({"title": "Our town"}),
    "GET /api/classes/{class_id}/handouts": of_class(),
    "GET /api/classes/{class_id}/handouts/{handout}": handed_out,
    "DELETE /api/classes/{class_id}/handouts/{handout}": handed_out,
    "GET /api/classes/{class_id}/places": of_class(),
    "PUT /api/classes/{class_id}/chat": of_class({"rule": "off"}),
    "PUT /api/classes/{class_id}/names": of_class({"public": False}),
    "POST /api/classes/{class_id}/pause": of_class(),
    "POST /api/classes/{class_id}/resume": of_class(),
}

CONFLICT = {
    "POST /api/classes": one_too_many,
    "DELETE /api/classes/{class_id}": "once it is gone, it is not found",
    "POST /api/classes/{class_id}/pupils": of_class({"names": [f"Kid {number}" for number in range(251)]}),
    "DELETE /api/classes/{class_id}/pupils/{account}": "once they are out, they are not found",
    "POST /api/classes/{class_id}/pupils/{account}/code": "each one takes the place of the last",
    "PUT /api/classes/{class_id}/teachers/{account}": no_teacher,
    "DELETE /api/classes/{class_id}/teachers/{account}": last_teacher,
    "POST /api/classes/{class_id}/cards": of_class({"codes": ["aaaa-aaaa-aaaa"]}),
    "POST /api/classes/{class_id}/handout": "again it goes to those who do not have it",
    "DELETE /api/classes/{class_id}/handouts/{handout}": "one that has ended stays as it is",
    "PUT /api/classes/{class_id}/chat": without_phrases,
    "PUT /api/classes/{class_id}/names": "saying it twice is saying it once",
    "POST /api/classes/{class_id}/pause": "pausing twice is pausing once",
    "POST /api/classes/{class_id}/resume": "going on twice is going on once",
}
